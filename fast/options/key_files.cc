#include "fast/options/key_files.h"

#include <fcntl.h>
#include <string.h>  // explicit_bzero
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <map>
#include <optional>
#include <system_error>

#include "fast/errors.h"
#include "stencil/core/text.h"
#include "stencil/core/topology.h"

namespace fast {
namespace {

using stencil::in_quotes;
using stencil::KeyRing;
using stencil::PublicKey;
using stencil::Rank;
using stencil::SecretKey;

constexpr std::string_view kSecretWord = "secret";
constexpr std::string_view kSpace = " \t\r";
constexpr std::size_t kMostBytes = 64 << 20;
constexpr const char* kMakeKeys = "'fast keys' makes such files";
/// Where systemd shows a service the files of LoadCredential=.
constexpr std::string_view kCredentials = "/run/credentials/";

/// Two words of a line and its number; the second may be missing.
struct Line {
  int number = 0;
  std::string_view first{}, second{};
  bool more = false;  ///< something other than a comment follows
};

std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kSpace), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kSpace));
  line.remove_prefix(word.size());
  return word;
}

/// Removes lines from `text` up to the first that is not empty or a comment, and returns that.
std::optional<Line> next_line(std::string_view& text, int& number) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    ++number;
    Line out{.number = number, .first = next_word(line)};
    if (out.first.empty() || out.first.starts_with('#')) continue;
    out.second = next_word(line);
    const std::string_view rest = next_word(line);
    out.more = !rest.empty() && !rest.starts_with('#');
    return out;
  }
  return std::nullopt;
}

std::string at(const std::string& file, int line) {
  return file + ":" + std::to_string(line) + ": ";
}

Rank parse_rank(const Line& line, const std::string& file) {
  constexpr int kLast = stencil::Topology::kMaxSize - 1;
  Rank rank = stencil::kNoRank;
  const char* const end = line.first.data() + line.first.size();
  const auto [rest, error] = std::from_chars(line.first.data(), end, rank);
  if (error == std::errc() && rest == end && rank >= 0 && rank <= kLast) return rank;
  throw ConfigError(at(file, line.number) + in_quotes(line.first) + " is no rank",
                    "begin the line with a rank, 0 to " + std::to_string(kLast));
}

std::string read_file(int descriptor) {
  std::string text;
  std::array<char, 4096> piece;
  text.reserve(piece.size());  // so that growing leaves no copy of a secret behind
  while (text.size() <= kMostBytes) {
    const ssize_t got = ::read(descriptor, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  ::explicit_bzero(piece.data(), piece.size());
  return text;
}

std::string remedy_without_key(const std::string& file) {
  if (!file.starts_with(kCredentials)) return kMakeKeys;
  return "put this rank's key where LoadCredential= of the service's unit reads it, such as "
         "/etc/fast" +
         file.substr(file.rfind('/')) + "; " + kMakeKeys;
}

/// An open file, closed by the destructor.
struct OpenFile {
  /// Does not block on a pipe that has no writer.
  explicit OpenFile(const std::string& name)
      : descriptor(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    const bool opened = descriptor >= 0 && ::fstat(descriptor, &status) == 0;
    if (opened && S_ISREG(status.st_mode)) return;
    const std::string why = opened ? "it is no file" : std::generic_category().message(errno);
    if (descriptor >= 0) ::close(descriptor);
    throw ConfigError("cannot read keys from " + in_quotes(name) + ": " + why, kMakeKeys);
  }
  ~OpenFile() { ::close(descriptor); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int descriptor;
  struct stat status {};
};

std::string octal(mode_t mode) {
  std::array<char, 8> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), mode & 0777U, 8).ptr;
  return "0" + std::string(digits.begin(), end);
}

SecretKey read_secret(const std::string& name) {
  const OpenFile file(name);
  const struct stat& status = file.status;
  if (open_to_others(status.st_mode, status.st_uid)) {
    const bool of_root = status.st_uid == 0;
    throw ConfigError(
        "others may read the secret key in " + name + ", whose mode is " + octal(status.st_mode),
        (of_root && ::geteuid() != 0 ? "chmod 640 " : "chmod 600 ") + name +
            (of_root ? " (of a Kubernetes secret: defaultMode: 0400)" : ""));
  }
  std::string text = read_file(file.descriptor);
  try {
    SecretKey key = parse_key_file(text, name);
    stencil::wipe(text);
    return key;
  } catch (...) {
    stencil::wipe(text);
    throw;
  }
}

void check(const KeyRing& ring, const KeyFiles& files, int rank, std::span<const Rank> neighbours) {
  const std::optional<Rank> holder = ring.rank_of(ring.own_public);
  if (!holder) {
    throw ConfigError(files.public_keys + " does not hold the public key of " + files.key,
                      "add the line '" + std::to_string(rank) + " " + text(ring.own_public) +
                          "', at every worker");
  }
  if (*holder != rank) {
    throw ConfigError(files.key + " is the key of rank " + std::to_string(*holder) + " by " +
                          files.public_keys + ", and this is rank " + std::to_string(rank),
                      "give each worker the key of its own rank");
  }
  const auto without = std::ranges::find_if(
      neighbours, [&ring](Rank neighbour) { return ring.of(neighbour).empty(); });
  if (without == neighbours.end()) return;
  throw ConfigError(files.public_keys + " holds no key of rank " + std::to_string(*without) +
                        ", a neighbour of rank " + std::to_string(rank),
                    "add a line 'RANK KEY' for it, at every worker");
}

}  // namespace

KeyFiles KeyFiles::in_folder(const std::string& folder, int rank) {
  return {.key = folder + "/rank-" + std::to_string(rank) + ".key",
          .public_keys = folder + "/public.keys"};
}

SecretKey parse_key_file(std::string_view text, const std::string& file) {
  std::optional<SecretKey> found;
  int number = 0;
  while (const std::optional<Line> line = next_line(text, number)) {
    std::optional<SecretKey> key;
    if (line->first == kSecretWord && !line->more) key = stencil::parse_secret_key(line->second);
    if (!key || found) {
      throw ConfigError(
          at(file, line->number) + (found ? "a second line" : "no secret key") +
              " (what stands there is not shown)",
          "write one line 'secret KEY', KEY being 40 characters of Z85; " + std::string(kMakeKeys));
    }
    found = std::move(key);
  }
  if (!found) throw ConfigError(file + " holds no secret key", remedy_without_key(file));
  return *std::move(found);
}

std::vector<std::vector<PublicKey>> parse_public_keys(std::string_view text,
                                                      const std::string& file) {
  std::vector<std::vector<PublicKey>> by_rank;
  struct Place {
    std::size_t rank;
    int line;
  };
  std::map<PublicKey, Place> seen;
  int number = 0;
  while (const std::optional<Line> line = next_line(text, number)) {
    const auto rank = static_cast<std::size_t>(parse_rank(*line, file));
    const std::optional<PublicKey> key = stencil::parse_public_key(line->second);
    if (!key || line->more) {
      throw ConfigError(
          at(file, line->number) +
              (key ? "something follows the key" : in_quotes(line->second) + " is no public key"),
          "write 'RANK KEY', KEY being 40 characters of Z85");
    }
    const auto [first, is_new] = seen.emplace(*key, Place{rank, line->number});
    if (first->second.rank != rank) {
      throw ConfigError(at(file, line->number) + in_quotes(line->second) + " stands in line " +
                            std::to_string(first->second.line) + " too, for rank " +
                            std::to_string(first->second.rank),
                        "a key belongs to one rank: remove one of the lines");
    }
    if (!is_new) continue;
    if (by_rank.size() <= rank) by_rank.resize(rank + 1);
    by_rank[rank].push_back(*key);
  }
  if (by_rank.empty()) throw ConfigError(file + " holds no public key", kMakeKeys);
  return by_rank;
}

std::string key_file_text(const KeyPair& pair, int rank) {
  std::string secret = secret_text(pair.secret);
  std::string out =
      "# FAST: the secret key of rank " + std::to_string(rank) +
      ". Whoever has it can speak for this rank.\n# Its public key: " + text(pair.open) + "\n" +
      std::string(kSecretWord) + " " + secret + "\n";
  stencil::wipe(secret);
  return out;
}

std::string public_keys_text(std::span<const PublicKey> by_rank) {
  std::string out =
      "# FAST: the public keys of all workers, the same file at each of them: RANK KEY.\n"
      "# While a rank's key is replaced it has two lines, the old key's and the new one's.\n";
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    out += std::to_string(rank) + " " + text(by_rank[rank]) + "\n";
  }
  return out;
}

bool open_to_others(mode_t mode, uid_t owner) {
  const mode_t allowed = owner == 0 ? S_IRWXU | S_IRGRP : S_IRWXU;
  return (mode & (S_IRWXU | S_IRWXG | S_IRWXO) & ~allowed) != 0;
}

std::shared_ptr<const KeyRing> read_keys(const KeyFiles& files, int rank,
                                         std::span<const Rank> neighbours) {
  auto ring = std::make_shared<KeyRing>();
  ring->own_secret = read_secret(files.key);
  ring->own_public = public_key_of(ring->own_secret);
  const OpenFile file(files.public_keys);
  const std::string text = read_file(file.descriptor);
  if (text.size() > kMostBytes) {
    throw ConfigError(files.public_keys + " is larger than 64 MiB", "remove what is no key");
  }
  ring->by_rank = parse_public_keys(text, files.public_keys);
  check(*ring, files, rank, neighbours);
  return ring;
}

}  // namespace fast
