#include "fast/data/vocabulary.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "fast/data/file_bytes.h"
#include "fast/errors.h"
#include "stencil/core/text.h"

namespace fast {
namespace {

constexpr char kRemedy[] =
    "give a vocabulary with a token a line, \\n standing for the end of a line";
constexpr std::size_t kPiece = 1 << 16;

int hexadecimal(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The token that a line writes; nothing where something else follows a backslash.
std::optional<std::string> unescaped(std::string_view line) {
  std::string token;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\') {
      token += line[i];
      continue;
    }
    const char next = ++i < line.size() ? line[i] : '\0';
    const std::size_t which = std::string_view("nrt\\").find(next);
    if (next != '\0' && which != std::string_view::npos) {
      token += "\n\r\t\\"[which];
    } else if (next == 'x' && i + 2 < line.size() && hexadecimal(line[i + 1]) >= 0 &&
               hexadecimal(line[i + 2]) >= 0) {
      token += static_cast<char>(16 * hexadecimal(line[i + 1]) + hexadecimal(line[i + 2]));
      i += 2;
    } else {
      return std::nullopt;
    }
  }
  return token;
}

/// Bytes of the character with which `text` begins (RFC 3629); 0: it is not UTF-8.
std::size_t character_length(std::span<const std::uint8_t> text) {
  const std::uint8_t first = text[0];
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((text[i] & 0xc0U) != 0x80) return 0;
  }
  if (length < 3) return length;
  const bool overlong = (first == 0xe0 && text[1] < 0xa0) || (first == 0xf0 && text[1] < 0x90);
  const bool surrogate = first == 0xed && text[1] >= 0xa0;
  const bool beyond = first == 0xf4 && text[1] >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

}  // namespace

Vocabulary::Vocabulary(std::vector<std::string> tokens, std::string name)
    : tokens_(std::move(tokens)), sorted_(tokens_.size()), name_(std::move(name)) {
  if (tokens_.empty()) throw DataError(name_ + " holds no token", kRemedy);
  if (tokens_.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw DataError(name_ + " holds more tokens than 32 bits can number", kRemedy);
  }
  std::iota(sorted_.begin(), sorted_.end(), 0U);
  std::ranges::stable_sort(
      sorted_, {}, [this](std::uint32_t n) -> const auto& { return tokens_[n]; });
  for (std::size_t i = 0; i < sorted_.size(); ++i) {
    const std::string& token = tokens_[sorted_[i]];
    if (token.empty()) {
      throw DataError(name_ + ", line " + std::to_string(sorted_[i] + 1) + ": an empty token",
                      kRemedy);
    }
    if (i > 0 && tokens_[sorted_[i - 1]] == token) {
      throw DataError(name_ + ": line " + std::to_string(sorted_[i] + 1) + " repeats line " +
                          std::to_string(sorted_[i - 1] + 1) + ", " + stencil::in_quotes(token),
                      kRemedy);
    }
    longest_ = std::max(longest_, token.size());
  }
}

Vocabulary Vocabulary::parse(std::string_view lines, const std::string& name) {
  std::vector<std::string> tokens;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    auto token = unescaped(line);
    if (!token) {
      throw DataError(name + ", line " + std::to_string(tokens.size() + 1) + ": " +
                          stencil::in_quotes(line) + " has a backslash that stands for nothing",
                      "write \\n, \\r, \\t, \\\\ or \\xHH");
    }
    tokens.push_back(*std::move(token));
  }
  return {std::move(tokens), name};
}

Vocabulary Vocabulary::read(const std::filesystem::path& file) {
  std::vector<std::uint8_t> bytes;
  read_data_file(file, kRemedy, bytes);
  return parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.string());
}

Vocabulary Vocabulary::characters_of(const DataFile& text, const std::string& name) {
  constexpr std::size_t kLongest = 4;
  std::set<std::string> found;
  std::vector<std::uint8_t> piece;
  const std::size_t size = text.size();
  for (std::size_t place = 0; place < size;) {
    piece.resize(std::min(kPiece, size - place));
    text.read(place, piece);
    const bool last = place + piece.size() == size;
    std::size_t at = 0;
    while (at < piece.size() && (last || at + kLongest <= piece.size())) {
      const std::size_t length = character_length(std::span(piece).subspan(at));
      if (length == 0) {
        throw DataError(name + " is not UTF-8 at byte " + std::to_string(place + at),
                        "convert it, or leave ',characters' out to take it as bytes");
      }
      found.emplace(reinterpret_cast<const char*>(piece.data()) + at, length);
      at += length;
    }
    place += at;
  }
  return {std::vector<std::string>(found.begin(), found.end()), name};
}

std::optional<Vocabulary::Token> Vocabulary::first(std::span<const std::uint8_t> text) const {
  // Of the tokens that begin as the text does so far, the sorted range; its first may be complete.
  std::optional<Token> longest;
  auto low = sorted_.begin(), high = sorted_.end();
  for (std::size_t length = 0; length < text.size() && length < longest_; ++length) {
    const auto byte_of = [&](std::uint32_t n) {
      return length < tokens_[n].size()
                 ? static_cast<int>(static_cast<std::uint8_t>(tokens_[n][length]))
                 : -1;
    };
    low = std::ranges::lower_bound(low, high, static_cast<int>(text[length]), {}, byte_of);
    high = std::ranges::upper_bound(low, high, static_cast<int>(text[length]), {}, byte_of);
    if (low == high) break;
    if (tokens_[*low].size() == length + 1) longest = Token{*low, length + 1};
  }
  return longest;
}

std::size_t Vocabulary::bytes() const {
  std::size_t all =
      sorted_.capacity() * sizeof(sorted_[0]) + tokens_.capacity() * sizeof(tokens_[0]);
  for (const std::string& token : tokens_) {
    all += token.capacity() > sizeof(std::string) / 2 ? token.capacity() : 0;
  }
  return all;
}

}  // namespace fast
