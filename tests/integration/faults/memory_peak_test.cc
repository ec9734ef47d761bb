// What workers with a budget of memory take at most, as the system tells, while a neighbour stands
// still.
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/cifar_files.h"
#include "tests/support/member_process.h"

namespace fast {
namespace {

class MemoryPeakTest : public ::testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] SessionOptions options(int rank) const {
    SessionOptions options = member_options(GetParam(), folder_.path(), "ring:3", rank);
    options.checkpoint = file("worker-{rank}.safetensors");
    options.checkpoint_every = 0.2;
    return options;
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  /// Ends them, once they have exchanged and one of them has stood still twice. Of each in turn.
  static std::vector<MemberReport> run(std::vector<std::unique_ptr<Member>>& members) {
    for (const auto& member : members) EXPECT_TRUE(member->says('t'));
    for (int time = 0; time < 2; ++time) {
      members[1]->send(SIGSTOP);
      EXPECT_TRUE(members[0]->says('s'));
      members[1]->send(SIGCONT);
      EXPECT_TRUE(members[0]->says('b'));
    }
    for (const auto& member : members) member->end();
    std::vector<MemberReport> reports;
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
  std::vector<MemberReport> without, with;
  for (const std::size_t floats : {std::size_t{1}, kFloats}) {
    std::vector<std::unique_ptr<Member>> members;
    for (int rank = 0; rank < 3; ++rank) {
      SessionOptions own = options(rank);
      if (floats > 1) own.checkpoint = file("large-{rank}.safetensors");
      if (rank < 2 && floats > 1) own.exchange.memory_budget = "26MB";
      if (rank == 2) own.exchange.window = 64;
      members.push_back(std::make_unique<Member>(own, floats, (rank + 1) % 3));
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
