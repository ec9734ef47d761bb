#include <gmock/gmock.h>
#include <signal.h>

#include <cmath>
#include <filesystem>

#include "tests/support/cifar_files.h"
#include "tests/support/faults.h"

namespace fast::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Workers started by hand that find each other by their folders.
class RefusalsTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> worker(const std::string& topology, int rank,
                                                std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {
        "--model",
        "linear",
        "--data",
        "synthetic:512,128",
        "--topology",
        topology,
        "--rank",
        std::to_string(rank),
        "--run-id",
        "first",
        "--out",
        run_.path().string(),
        "--threads",
        "1",
        "--lr",
        "0.01",
        "--report-every",
        "0.1",
        "--slow",
        std::to_string(rank) + ":40",
        "--peer-template",
        "file:" + (run_.path() / "worker-{rank}" / "endpoint").string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  TemporaryFolder folder_;
  RunWatch run_{folder_.path() / "run"};
};

struct Difference {
  const char* name;
  std::vector<std::string> of_newcomer;
  std::string ours, theirs;  ///< both named by the refusal
};
void PrintTo(const Difference& difference, std::ostream* out) {
  *out << difference.name;
}

class NewcomerTest : public RefusalsTest, public ::testing::WithParamInterface<Difference> {};

INSTANTIATE_TEST_SUITE_P(
    Differences, NewcomerTest,
    ::testing::Values(
        Difference{"Run", {"--run-id", "second"}, "ours 'second'", "theirs is not told"},
        Difference{"Layout", {"--bucket-kib", "64"}, "layout", "layout"},
        Difference{"Start", {"--seed", "2"}, "seed differs: ours 2", "theirs 1"},
        Difference{"Budget",
                   {"--epochs", "7"},
                   "budget differs: ours 3584 samples",
                   "theirs 51200000 samples"},
        Difference{"Data",
                   {"--data", "synthetic:500,128", "--epochs", "102400"},
                   "data differs: ours synthetic of 500 examples",
                   "theirs synthetic of 512 examples"},
        Difference{"Partition", {"--partition", "by-label"}, "ours by-label", "theirs iid"},
        Difference{"Mode", {"--mode", "bounded:3"}, "async", "bounded:3"},
        Difference{"Codec", {"--codec", "fp16"}, "fp32", "fp16"}),
    [](const auto& info) { return info.param.name; });

TEST_P(NewcomerTest, IsRefusedByNamingBothValuesAndHarmsNobody) {
  const std::string keys = (folder_.path() / "keys").string();
  ASSERT_EQ(
      run_program(FAST_PROGRAM, {"keys", "--out", keys, "--workers", "3"}, {}, kPatience).code, 0);
  const std::vector<std::string> budget = {"--epochs", "100000", "--warmup", "0", "--keys", keys};
  // 0 and 1 are a pair that trains; 2 comes later and is not of their kind.
  Program zero(FAST_WORKER, worker("ring:3", 0, budget));
  Program one(FAST_WORKER, worker("ring:3", 1, budget));
  ASSERT_TRUE(zero.wait_until([&] { return run_.trains(0) && run_.trains(1); }, kPatience))
      << zero.err() << one.err();
  std::vector<std::string> more = budget;
  more.insert(more.end(), GetParam().of_newcomer.begin(), GetParam().of_newcomer.end());
  const ProgramResult two = run_program(FAST_WORKER, worker("ring:3", 2, more), {}, kPatience);
  EXPECT_EQ(two.code, 6) << two.err;
  EXPECT_THAT(two.err, AllOf(HasSubstr(GetParam().ours), HasSubstr(GetParam().theirs)));
  EXPECT_TRUE(run_.all_go_on(zero, {0, 1})) << zero.err() << one.err();
  // Of two refusals it takes the first and goes, so that its other neighbour may not hear of it.
  EXPECT_THAT(run_.log(0) + run_.log(1), HasSubstr("differs: ours"));
  for (const int rank : {0, 1}) {
    EXPECT_TRUE(run_.trains(rank)) << rank;
    EXPECT_EQ(run_.events(rank, "suspect", 1 - rank), 0) << rank;
  }
  zero.signal(SIGTERM);
  one.signal(SIGTERM);
  EXPECT_EQ(zero.wait(kPatience).code, 130) << zero.err();
  EXPECT_EQ(one.wait(kPatience).code, 130) << one.err();
}

/// Where nobody proves anything, whoever comes may be a stranger.
TEST_F(RefusalsTest, WithoutKeysANewcomerLearnsWhatDiffersAndNoValue) {
  const std::vector<std::string> budget = {"--epochs", "100000", "--warmup", "0"};
  Program zero(FAST_WORKER, worker("ring:3", 0, budget));
  Program one(FAST_WORKER, worker("ring:3", 1, budget));
  ASSERT_TRUE(zero.wait_until([&] { return run_.trains(0) && run_.trains(1); }, kPatience))
      << zero.err() << one.err();
  const ProgramResult two =
      run_program(FAST_WORKER, worker("ring:3", 2, {"--epochs", "7"}), {}, kPatience);
  EXPECT_EQ(two.code, 6) << two.err;
  EXPECT_THAT(two.err, HasSubstr("budget differs: ours 3584 samples, theirs is not told"));
  EXPECT_THAT(two.err + run_.log(2), ::testing::Not(HasSubstr("51200000")));
  EXPECT_THAT(run_.log(0) + run_.log(1), HasSubstr("budget differs: ours 51200000 samples"));
  zero.signal(SIGTERM);
  one.signal(SIGTERM);
  EXPECT_EQ(zero.wait(kPatience).code, 130) << zero.err();
  EXPECT_EQ(one.wait(kPatience).code, 130) << one.err();
}

TEST_F(RefusalsTest, ASecondProcessOfARankIsRefusedByNameAndHarmsNobody) {
  const std::vector<std::string> budget = {"--epochs", "100000",          "--warmup",
                                           "0",        "--suspect-after", "1"};
  Program zero(FAST_WORKER, worker("ring:2", 0, budget));
  Program one(FAST_WORKER, worker("ring:2", 1, budget));
  ASSERT_TRUE(zero.wait_until([&] { return run_.trains(0) && run_.trains(1); }, kPatience))
      << zero.err() << one.err();
  const ProgramResult same = run_program(FAST_WORKER, worker("ring:2", 1, budget), {}, kPatience);
  EXPECT_EQ(same.code, 6) << same.err;
  EXPECT_THAT(same.err, AllOf(HasSubstr("is in use by process " + std::to_string(one.pid())),
                              HasSubstr("end that one first")));
  std::vector<std::string> elsewhere = budget;
  elsewhere.insert(elsewhere.end(), {"--out", (folder_.path() / "other").string()});
  const ProgramResult other =
      run_program(FAST_WORKER, worker("ring:2", 1, elsewhere), {}, kPatience);
  EXPECT_EQ(other.code, 6) << other.err;
  EXPECT_THAT(other.err, HasSubstr("rank 1 is already here, from "));
  EXPECT_TRUE(run_.all_go_on(zero, {0, 1})) << zero.err() << one.err();
  EXPECT_EQ(run_.events(0, "suspect", 1), 0);
  EXPECT_THAT(run_.log(0), HasSubstr("rank 1 is already here"));
  for (Program* const program : {&zero, &one}) {
    program->signal(SIGTERM);
    EXPECT_EQ(program->wait(kPatience).code, 130) << program->err();
  }
}

TEST_F(RefusalsTest, APortInUseIsAnErrorOfTheNetworkAndNothingIsWritten) {
  Program first(FAST_WORKER, worker("ring:2", 0, {"--epochs", "1000"}));
  ASSERT_TRUE(first.wait_until([&] { return run_.port(0) > 0; }, kPatience)) << first.err();
  const std::string taken = "tcp://127.0.0.1:" + std::to_string(run_.port(0));
  const auto other = folder_.path() / "other";
  const ProgramResult second =
      run_program(FAST_WORKER, worker("ring:2", 1, {"--listen", taken, "--out", other.string()}),
                  {}, kPatience);
  EXPECT_EQ(second.code, 5) << second.err;
  EXPECT_THAT(second.err, AllOf(HasSubstr(taken), HasSubstr("in use"), HasSubstr("; ")));
  EXPECT_FALSE(std::filesystem::exists(other));
  first.signal(SIGTERM);
  EXPECT_EQ(first.wait(kPatience).code, 130) << first.err();
}

TEST_F(RefusalsTest, AWorkerWhoseModelTurnsNonFiniteStopsItselfAndHarmsNobody) {
  const std::vector<std::string> budget = {"--epochs", "40",           "--suspect-after",
                                           "0.5",      "--gone-after", "1"};
  std::vector<std::string> wild = budget;
  wild.insert(wild.end(), {"--lr", "1e30", "--weight-decay", "1e30", "--warmup", "0", "--schedule",
                           "constant"});
  Program zero(FAST_WORKER, worker("ring:3", 0, budget));
  Program one(FAST_WORKER, worker("ring:3", 1, budget));
  Program two(FAST_WORKER, worker("ring:3", 2, wild));
  const ProgramResult ended = two.wait(kPatience);
  EXPECT_EQ(ended.code, 7) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("lower the learning rate"));
  EXPECT_EQ(run_.history(2).end->exit_code, 7);
  EXPECT_EQ(zero.wait(kPatience).code, 0) << zero.err();
  EXPECT_EQ(one.wait(kPatience).code, 0) << one.err();
  for (const int rank : {0, 1}) {
    const WorkerHistory history = run_.history(rank);
    ASSERT_FALSE(history.progress.empty());
    for (const WorkerProgress& p : history.progress) {
      if (p.samples == 0) continue;  // there is no loss yet
      EXPECT_LT(p.loss, 100) << rank << ", and a number";
    }
    ASSERT_TRUE(history.progress.back().test_loss);
    EXPECT_TRUE(std::isfinite(*history.progress.back().test_loss)) << rank;
  }
}

TEST_F(RefusalsTest, AWorkerByItselfNeedsNobody) {
  const ProgramResult alone =
      run_program(FAST_WORKER, worker("ring:1", 0, {"--epochs", "2"}), {}, kPatience);
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_TRUE(std::filesystem::exists(run_.worker(0) / "model.safetensors"));
}

}  // namespace
}  // namespace fast::testing
