#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/flat/flat_adapter.h"
#include "fast/session/session.h"
#include "tests/support/memory_group.h"

namespace fast {

inline constexpr int kMemberPatience = 60'000;  // milliseconds

/// Of this process, in bytes.
inline std::size_t peak_of_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::size_t kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib * 1024;
  }
  return 0;
}

/// Of a worker that meets its neighbours in sockets in `folder` and shares no memory.
inline SessionOptions member_options(const std::string& scheme, const std::filesystem::path& folder,
                                     const std::string& topology, int rank) {
  const std::string sockets = scheme + "://" + (folder / "socket-").string();
  SessionOptions options;
  options.topology = topology;
  options.rank = rank;
  options.listen = sockets + std::to_string(rank);
  options.peer_template = sockets + "{rank}";
  options.exchange.share_memory = "never";
  options.exchange.suspect_after = 0.3;
  options.exchange.start_deadline = options.exchange.settle_deadline = 60;
  options.exchange.bucket_kib = 64;
  options.log = [](LogLevel, std::string_view) {};
  return options;
}

struct MemberReport {
  std::size_t peak = 0, held = 0;
  bool agreed = false;
};

/// A worker in a process of its own, which trains until it is told to end.
class Member {
 public:
  /// `watched`: the rank whose silence it tells of. It becomes one of `group`, where that is given,
  /// before it has a model.
  Member(const SessionOptions& options, std::size_t floats, int watched,
         const testing::MemoryGroup* group = nullptr)
      : watched_(watched), group_(group) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) throw std::runtime_error("socketpair");
    pid_ = ::fork();
    socket_ = ends[pid_ == 0 ? 1 : 0];
    ::close(ends[pid_ == 0 ? 0 : 1]);
    if (pid_ == 0) work(options, floats);
  }
  ~Member() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(socket_);
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  /// Waits for a word of the worker: 't' once it has exchanged, 's' and 'b' where the watched
  /// rank is suspected and is back.
  [[nodiscard]] bool says(char word) const {
    char heard = 0;
    pollfd wait{socket_, POLLIN, 0};
    while (::poll(&wait, 1, kMemberPatience) > 0 && ::read(socket_, &heard, 1) == 1) {
      if (heard == word) return true;
    }
    return false;
  }
  void send(int signal) const { ::kill(pid_, signal); }
  void end() const { (void)!::write(socket_, "e", 1); }
  [[nodiscard]] MemberReport report() const {
    MemberReport report;
    if (says('r')) (void)!::read(socket_, &report, sizeof report);
    return report;
  }

 private:
  [[nodiscard]] static bool misses(const SessionStatus& status, int rank) {
    return std::ranges::any_of(status.neighbours, [&](const NeighbourStatus& neighbour) {
      return neighbour.rank == rank && neighbour.link == LinkState::kSuspect;
    });
  }
  [[noreturn]] void work(const SessionOptions& options, std::size_t floats) {
    try {
      if (group_ != nullptr && !group_->enter()) throw std::runtime_error("cannot enter the group");
      std::vector<float> x(floats, 0.5F);
      FlatAdapter adapter(x);
      Session session(adapter, options);
      MemberReport report;
      char word = 0;
      bool trains = false;
      while (::recv(socket_, &word, 1, MSG_DONTWAIT) != 1) {
        for (float& value : x) value += 0.1F * (static_cast<float>(options.rank) - value);
        session.exchange({.samples = 1, .loss = 1});
        const SessionStatus status = session.status();
        report.held = std::max<std::size_t>(report.held, status.counter("memory_held"));
        if (!trains && status.has_exchanged()) trains = ::write(socket_, "t", 1) == 1;
        const bool missed = misses(status, watched_);
        if (missed != misses_) (void)!::write(socket_, missed ? "s" : "b", 1);
        misses_ = missed;
      }
      report.agreed = session.finish() == Agreement::kAgreed;
      report.peak = peak_of_memory();
      (void)!::write(socket_, "r", 1);
      (void)!::write(socket_, &report, sizeof report);
      _exit(0);
    } catch (const std::exception& error) {
      (void)!::write(STDERR_FILENO, error.what(), std::char_traits<char>::length(error.what()));
      _exit(1);
    }
  }

  pid_t pid_ = -1;
  int socket_ = -1;
  int watched_;
  const testing::MemoryGroup* group_;
  bool misses_ = false;  ///< the watched rank
};

}  // namespace fast
