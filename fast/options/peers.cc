#include "fast/options/peers.h"

#include <cerrno>
#include <charconv>
#include <fstream>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "fast/errors.h"
#include "stencil/core/text.h"
#include "stencil/threads/mutex.h"

namespace fast {
namespace {

constexpr std::string_view kPlaceholder = "{rank}";
constexpr std::string_view kLiteral = "{{rank}}";
constexpr std::size_t kMaxFileBytes = 1 << 22;

/// Nothing where it cannot be read; errno says why.
std::optional<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::string text;
  char c = 0;
  while (text.size() < kMaxFileBytes && in.get(c)) text.push_back(c);
  if (in.bad()) return std::nullopt;
  return text;
}

std::map<int, std::string> read_peers(const std::string& file, std::string& trouble) {
  errno = 0;
  const std::optional<std::string> text = read_file(file);
  if (!text) {
    trouble = "cannot read the peers file " + stencil::in_quotes(file) + ": " +
              std::generic_category().message(errno) +
              "; it is read again for as long as a neighbour is missing";
    return {};
  }
  std::string skipped;
  std::map<int, std::string> peers = Peers::parse(*text, &skipped);
  if (!skipped.empty()) {
    trouble = file + ":" + skipped + " is skipped; write RANK ENDPOINT, as 1 node1:5555";
  } else if (peers.empty()) {
    trouble = "the peers file " + stencil::in_quotes(file) +
              " names nobody; write a line RANK ENDPOINT for each neighbour";
  }
  return peers;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::string replaced(std::string_view text, std::string_view what, std::string_view by) {
  std::string out;
  for (std::size_t at = 0; (at = text.find(what)) != std::string_view::npos;) {
    out.append(text.substr(0, at)).append(by);
    text.remove_prefix(at + what.size());
  }
  return out.append(text);
}

}  // namespace

std::string for_rank(std::string_view pattern, int rank) {
  std::string out;
  while (true) {
    const std::size_t literal = pattern.find(kLiteral);
    out += replaced(pattern.substr(0, literal), kPlaceholder, std::to_string(rank));
    if (literal == std::string_view::npos) return out;
    out += kPlaceholder;
    pattern.remove_prefix(literal + kLiteral.size());
  }
}

std::string literal_in_template(const std::string& text) {
  return replaced(text, kPlaceholder, kLiteral);
}

void check_peer_template(const std::string& pattern) {
  if (pattern.empty() || for_rank(pattern, 0) != for_rank(pattern, 1)) return;
  throw ConfigError("peer template '" + pattern + "' holds no {rank}",
                    "write it like 'worker-{rank}:5555'");
}

Peers::Peers(std::map<int, std::string> endpoints, std::string file, std::string pattern)
    : endpoints_(std::move(endpoints)), file_(std::move(file)), pattern_(std::move(pattern)) {}

std::map<int, std::string> Peers::parse(std::string_view text, std::string* skipped) {
  std::map<int, std::string> peers;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trim(text.substr(0, std::min(end, text.find('#'))));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    int rank = -1;
    const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), rank);
    const std::string_view after = line.substr(static_cast<std::size_t>(rest - line.data()));
    const std::string_view endpoint = trim(after);
    const bool apart = after.starts_with(' ') || after.starts_with('\t');
    if (error == std::errc() && rank >= 0 && apart && !endpoint.empty()) {
      peers[rank] = endpoint;
    } else if (!line.empty() && skipped != nullptr && skipped->empty()) {
      *skipped = std::to_string(number) + ": " + stencil::in_quotes(line);
    }
  }
  return peers;
}

bool Peers::in_file(int rank) const {
  if (const auto it = endpoints_.find(rank); it != endpoints_.end()) {
    return it->second.starts_with(kFileScheme);
  }
  return !file_.empty() || pattern_.starts_with(kFileScheme);
}

Peers::Found Peers::look(int rank) const {
  Found found;
  std::string endpoint;
  if (const auto it = endpoints_.find(rank); it != endpoints_.end()) {
    endpoint = it->second;
  } else if (!file_.empty()) {
    const std::map<int, std::string> peers = read_peers(file_, found.trouble.emplace());
    if (const auto named = peers.find(rank); named != peers.end()) endpoint = named->second;
  }
  if (endpoint.empty() && !pattern_.empty()) {
    endpoint = for_rank(pattern_, rank);
  }
  if (endpoint.starts_with(kFileScheme)) {
    endpoint = trim(read_file(endpoint.substr(kFileScheme.size())).value_or(""));
  }
  if (!endpoint.empty()) found.endpoint = std::move(endpoint);
  return found;
}

/// What the two threads share.
struct PeersOnAThread::Shared {
  explicit Shared(Peers where) : peers(std::move(where)) {}
  const Peers peers;
  stencil::Mutex mutex;
  stencil::Condition changed;
  std::set<int> wanted FAST_GUARDED_BY(mutex);
  std::map<int, std::optional<std::string>> found FAST_GUARDED_BY(mutex);
  std::string trouble FAST_GUARDED_BY(mutex);
  bool over FAST_GUARDED_BY(mutex) = false;

  void read_on() {
    stencil::MutexLock lock(mutex);
    while (true) {
      while (!over && wanted.empty()) changed.wait(lock);
      if (over) return;
      const int rank = *wanted.begin();
      lock.unlock();
      Peers::Found now = peers.look(rank);
      lock.lock();
      wanted.erase(rank);
      found[rank] = std::move(now.endpoint);
      if (now.trouble) trouble = *std::move(now.trouble);
    }
  }
};

PeersOnAThread::PeersOnAThread(Peers peers, stencil::LogSink log)
    : shared_(std::make_shared<Shared>(std::move(peers))), log_(std::move(log)) {}

PeersOnAThread::~PeersOnAThread() {
  const stencil::MutexLock lock(shared_->mutex);
  shared_->over = true;
  shared_->changed.notify_all();
}

std::optional<std::string> PeersOnAThread::find(int rank) {
  if (!shared_->peers.in_file(rank)) return shared_->peers.find(rank);
  if (!std::exchange(started_, true)) {
    std::thread([shared = shared_] { shared->read_on(); }).detach();
  }
  std::optional<std::string> endpoint;
  std::string trouble;
  {
    const stencil::MutexLock lock(shared_->mutex);
    shared_->wanted.insert(rank);
    shared_->changed.notify_all();
    endpoint = shared_->found[rank];
    trouble = shared_->trouble;
  }
  if (trouble != trouble_) {
    trouble_ = std::move(trouble);
    if (!trouble_.empty()) log_(stencil::LogLevel::kWarning, trouble_);
  }
  return endpoint;
}

}  // namespace fast
