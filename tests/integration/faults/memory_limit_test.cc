// A worker within a budget of memory lives where the system gives it no more than that, whatever
// its neighbours do.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/cifar_files.h"
#include "tests/support/member_process.h"
#include "tests/support/memory_group.h"

namespace fast {
namespace {

constexpr std::size_t kValues = 1'000'000, kModel = kValues * sizeof(float);
constexpr std::size_t kAllowed = 26'000'000;
/// What malloc keeps, stacks, and the system's own of sockets and files.
constexpr std::size_t kMargin = 4'000'000;
/// Checkpoints: the last, the one before, and the one that is being written.
constexpr std::size_t kFiles = 3 * (kModel + 100'000);

class MemoryLimitTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string why;
    group_ = testing::MemoryGroup::make("fast-memory-limit", why);
    // ctest knows these words, and says that the test was not run.
    if (group_ == nullptr) {
      std::cout << "control groups with a limit of memory cannot be made here: " << why
                << std::endl;
    }
  }
  /// All are neighbours of all.
  [[nodiscard]] SessionOptions options(const std::string& topology, int rank) const {
    return member_options(GetParam(), folder_.path(), topology, rank);
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  /// Files in memory are the group's, too, and cannot be written back.
  [[nodiscard]] std::size_t taken_by_files() const {
    constexpr long kTmpfs = 0x01021994;
    struct statfs system {};
    const bool in_memory =
        ::statfs(folder_.path().c_str(), &system) == 0 && system.f_type == kTmpfs;
    return in_memory ? kFiles : 0;
  }
  /// What a worker takes that exchanges nothing: x, and a session without neighbours whose model is
  /// one value.
  [[nodiscard]] std::size_t alone() const {
    std::string why;
    const auto group = testing::MemoryGroup::make("fast-memory-alone", why);
    if (group == nullptr) return 0;
    const Member member(options("ring:1", 0), 1, 0, group.get());
    member.end();
    EXPECT_GT(member.report().peak, 0U) << "it has ended by itself";
    return group->peak() + kModel;
  }

  testing::TemporaryFolder folder_;
  std::unique_ptr<testing::MemoryGroup> group_;
};

INSTANTIATE_TEST_SUITE_P(Transports, MemoryLimitTest, ::testing::Values("zmq+ipc", "ipc"),
                         [](const auto& info) { return info.index == 0 ? "zmq" : "stream"; });

TEST_P(MemoryLimitTest, WhoeverTakesMoreThanTheLimitIsKilled) {
  if (group_ == nullptr) return;
  ASSERT_TRUE(group_->limit(16'000'000));
  const pid_t child = ::fork();
  if (child == 0) {
    if (!group_->enter()) _exit(1);
    std::vector<char> more(64'000'000, 1);
    _exit(more[more.size() / 2] == 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(group_->killed(), 1U);
}

/// One neighbour stands still, one is greedy, one is killed and comes back.
TEST_P(MemoryLimitTest, AWorkerWithinItsBudgetLivesAndTrainsToItsEnd) {
  if (group_ == nullptr) return;
  const std::size_t base = alone();
  ASSERT_GT(base, 0U);
  const std::size_t most = base + kAllowed + kMargin + taken_by_files();
  ASSERT_TRUE(group_->limit(most));
  const auto start = [&](int rank) {
    SessionOptions own = options("complete:4", rank);
    if (rank == 0) {
      own.exchange.memory_budget = std::to_string(kAllowed);
      own.checkpoint = file("checkpoint");
      own.checkpoint_every = 0.2;
    }
    if (rank == 2) own.exchange.window = 64;
    return std::make_unique<Member>(own, kValues, /*watched=*/1,
                                    rank == 0 ? group_.get() : nullptr);
  };
  std::vector<std::unique_ptr<Member>> members;
  for (int rank = 0; rank < 4; ++rank) members.push_back(start(rank));
  for (const auto& member : members) ASSERT_TRUE(member->says('t'));
  for (int time = 0; time < 2; ++time) {
    members[1]->send(SIGSTOP);
    ASSERT_TRUE(members[0]->says('s'));
    members[3].reset();
    members[3] = start(3);
    EXPECT_TRUE(members[3]->says('t'));
    members[1]->send(SIGCONT);
    ASSERT_TRUE(members[0]->says('b'));
  }
  for (const auto& member : members) member->end();
  const MemberReport report = members[0]->report();
  RecordProperty("alone", std::to_string(base));
  RecordProperty("limit", std::to_string(most));
  RecordProperty("peak", std::to_string(group_->peak()));
  EXPECT_TRUE(report.agreed);
  EXPECT_EQ(group_->killed(), 0U);
  EXPECT_LE(report.held, kAllowed);
  EXPECT_GT(report.held, 2 * kModel) << "it has exchanged a model, not less";
}

}  // namespace
}  // namespace fast
