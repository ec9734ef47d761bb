// What workers with a budget of memory take at most, as the system tells, while a neighbour stands
// still.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "adapters/flat/flat_adapter.h"
#include "fast/session/session.h"
#include "tests/support/cifar_files.h"

namespace fast {
namespace {

constexpr int kPatience = 60'000;  // milliseconds

/// Of this process, in bytes.
std::size_t peak_of_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::size_t kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib * 1024;
  }
  return 0;
}

struct Report {
  std::size_t peak = 0, held = 0;
  bool agreed = false;
};

/// A worker in a process of its own, which trains until it is told to end.
class Member {
 public:
  Member(const SessionOptions& options, std::size_t floats) {
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

  /// Waits for a word of the worker: 't' once it has exchanged, 's' and 'b' where the next
  /// rank is suspected and is back.
  [[nodiscard]] bool says(char word) const {
    char heard = 0;
    pollfd wait{socket_, POLLIN, 0};
    while (::poll(&wait, 1, kPatience) > 0 && ::read(socket_, &heard, 1) == 1) {
      if (heard == word) return true;
    }
    return false;
  }
  void send(int signal) const { ::kill(pid_, signal); }
  void end() const { (void)!::write(socket_, "e", 1); }
  [[nodiscard]] Report report() const {
    Report report;
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
      std::vector<float> x(floats, 0.5F);
      FlatAdapter adapter(x);
      Session session(adapter, options);
      Report report;
      char word = 0;
      bool trains = false;
      while (::recv(socket_, &word, 1, MSG_DONTWAIT) != 1) {
        for (float& value : x) value += 0.1F * (static_cast<float>(options.rank) - value);
        session.exchange({.samples = 1, .loss = 1});
        const SessionStatus status = session.status();
        report.held = std::max<std::size_t>(report.held, status.counter("memory_held"));
        if (!trains && status.has_exchanged()) trains = ::write(socket_, "t", 1) == 1;
        const bool missed = misses(status, (options.rank + 1) % 3);
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
  bool misses_ = false;  ///< the next rank
};

class MemoryPeakTest : public ::testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] SessionOptions options(int rank) const {
    const std::string scheme = GetParam();
    SessionOptions options;
    options.topology = "ring:3";
    options.rank = rank;
    options.listen = scheme + "://" + file("socket-" + std::to_string(rank));
    options.peer_template = scheme + "://" + file("socket-{rank}");
    options.exchange.share_memory = "never";
    options.exchange.suspect_after = 0.3;
    options.exchange.start_deadline = options.exchange.settle_deadline = 60;
    options.exchange.bucket_kib = 64;
    options.checkpoint = file("worker-{rank}.safetensors");
    options.checkpoint_every = 0.2;
    options.log = [](LogLevel, std::string_view) {};
    return options;
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  /// Ends them, once they have exchanged and one of them has stood still twice. Of each in turn.
  static std::vector<Report> run(std::vector<std::unique_ptr<Member>>& members) {
    for (const auto& member : members) EXPECT_TRUE(member->says('t'));
    for (int time = 0; time < 2; ++time) {
      members[1]->send(SIGSTOP);
      EXPECT_TRUE(members[0]->says('s'));
      members[1]->send(SIGCONT);
      EXPECT_TRUE(members[0]->says('b'));
    }
    for (const auto& member : members) member->end();
    std::vector<Report> reports;
    for (const auto& member : members) reports.push_back(member->report());
    return reports;
  }

  testing::TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Transports, MemoryPeakTest, ::testing::Values("zmq+ipc", "ipc"),
                         [](const auto& info) { return info.index == 0 ? "zmq" : "stream"; });

/// Two have a budget, for which the window is 1; the third has none, and a wide window. What a
/// process takes without a model is that of the same run of a model of one value. What malloc keeps
/// has room, since not all that may be held is held at one time.
TEST_P(MemoryPeakTest, IsWithinTheBudgetWhileANeighbourStandsStill) {
  constexpr std::size_t kFloats = 1'000'000;
  constexpr std::size_t kBudget = 26'000'000;
  std::vector<Report> without, with;
  for (const std::size_t floats : {std::size_t{1}, kFloats}) {
    std::vector<std::unique_ptr<Member>> members;
    for (int rank = 0; rank < 3; ++rank) {
      SessionOptions own = options(rank);
      if (floats > 1) own.checkpoint = file("large-{rank}.safetensors");
      if (rank < 2 && floats > 1) own.exchange.memory_budget = "26MB";
      if (rank == 2) own.exchange.window = 64;
      members.push_back(std::make_unique<Member>(own, floats));
    }
    (floats == 1 ? without : with) = run(members);
  }
  for (std::size_t rank = 0; rank < 2; ++rank) {
    ASSERT_GT(without[rank].peak, 0U);
    EXPECT_TRUE(with[rank].agreed) << rank;
    EXPECT_LE(with[rank].held, kBudget) << rank;
    EXPECT_GT(with[rank].held, 2 * kFloats * sizeof(float)) << rank;
    const std::size_t took = with[rank].peak - without[rank].peak;
    RecordProperty("took_" + std::to_string(rank), std::to_string(took));
    EXPECT_LE(took, kFloats * sizeof(float) + kBudget) << rank;
  }
}

}  // namespace
}  // namespace fast
