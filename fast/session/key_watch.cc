#include "fast/session/key_watch.h"

#include <sys/stat.h>

#include <array>
#include <optional>
#include <thread>
#include <utility>

#include "fast/errors.h"
#include "stencil/threads/mutex.h"

namespace fast {
namespace {

using stencil::KeyRing;
using stencil::Rank;

/// Identifies a version of a file: changes when the file is written, or replaced, also by a link to
/// another file. Zeros: no such file.
using Trace = std::array<std::uint64_t, 8>;

Trace trace(const std::string& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return {};
  return {static_cast<std::uint64_t>(status.st_dev),
          static_cast<std::uint64_t>(status.st_ino),
          static_cast<std::uint64_t>(status.st_size),
          static_cast<std::uint64_t>(status.st_mode),
          static_cast<std::uint64_t>(status.st_uid),
          static_cast<std::uint64_t>(status.st_ctim.tv_sec),
          static_cast<std::uint64_t>(status.st_ctim.tv_nsec),
          static_cast<std::uint64_t>(status.st_mtim.tv_nsec)};
}

std::array<Trace, 2> traces(const KeyFiles& files) {
  return {trace(files.key), trace(files.public_keys)};
}

}  // namespace

/// What the reader shares with the thread that asks; `seen` and `failed` are the reader's alone.
struct KeyWatch::Shared {
  Shared(KeyFiles where, int own, std::vector<Rank> whose, std::chrono::milliseconds wait)
      : files(std::move(where)),
        rank(own),
        pause(wait),
        seen(traces(files)),
        neighbours(std::move(whose)),
        ring(read_keys(files, rank, neighbours)) {}

  const KeyFiles files;
  const int rank;
  const std::chrono::milliseconds pause;
  std::array<Trace, 2> seen;
  std::string failed;  ///< why the last attempt to read them did: there is another

  stencil::Mutex mutex;
  stencil::Condition changed;
  std::vector<Rank> neighbours FAST_GUARDED_BY(mutex);
  std::shared_ptr<const KeyRing> ring FAST_GUARDED_BY(mutex);
  /// For the log: "" for replaced keys, or an error.
  std::optional<std::string> news FAST_GUARDED_BY(mutex);
  bool wanted FAST_GUARDED_BY(mutex) = false, over FAST_GUARDED_BY(mutex) = false;

  void read_on() {
    while (await_wish()) {
      look();
      stencil::MutexLock lock(mutex);
      wanted = false;
      const auto until = std::chrono::steady_clock::now() + pause;
      while (!over && changed.wait_until(lock, until)) {
      }
    }
  }

  /// Returns false where nobody will want keys any more.
  bool await_wish() {
    stencil::MutexLock lock(mutex);
    while (!over && !wanted) changed.wait(lock);
    return !over;
  }

  void look() FAST_EXCLUDES(mutex) {
    const std::vector<Rank> whose = followed();
    std::shared_ptr<const KeyRing> found;
    std::string error;
    const auto now = traces(files);
    const bool other = now != std::exchange(seen, now);
    if (other || !failed.empty()) {
      try {
        found = read_keys(files, rank, whose);
      } catch (const std::exception& what) {
        error = what.what();
      }
    }
    const bool logged = error == std::exchange(failed, error);
    const stencil::MutexLock lock(mutex);
    if (found) ring = std::move(found);
    if (!logged || (other && error.empty())) news = std::move(error);
  }

  std::vector<Rank> followed() {
    const stencil::MutexLock lock(mutex);
    return neighbours;
  }
};

KeyWatch::KeyWatch(KeyFiles files, int rank, std::vector<Rank> neighbours, stencil::LogSink log,
                   std::chrono::milliseconds pause)
    : shared_(std::make_shared<Shared>(std::move(files), rank, std::move(neighbours), pause)),
      log_(std::move(log)) {
  std::thread([shared = shared_] { shared->read_on(); }).detach();
}

KeyWatch::~KeyWatch() {
  const stencil::MutexLock lock(shared_->mutex);
  shared_->over = true;
  shared_->changed.notify_all();
}

void KeyWatch::follow(std::vector<Rank> neighbours) {
  const stencil::MutexLock lock(shared_->mutex);
  shared_->neighbours = std::move(neighbours);
}

std::shared_ptr<const KeyRing> KeyWatch::current() {
  std::shared_ptr<const KeyRing> ring;
  std::optional<std::string> news;
  {
    const stencil::MutexLock lock(shared_->mutex);
    ring = shared_->ring;
    news = std::exchange(shared_->news, std::nullopt);
    if (!std::exchange(shared_->wanted, true)) shared_->changed.notify_all();
  }
  if (news && news->empty()) {
    log_(stencil::LogLevel::kInfo, "keys were replaced: those of " + shared_->files.key + " and " +
                                       shared_->files.public_keys + " are in use now");
  } else if (news) {
    log_(stencil::LogLevel::kWarning, "keys stay as they were: " + *news);
  }
  return ring;
}

}  // namespace fast
