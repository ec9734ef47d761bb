// A worker holds the images of its own shard, and lives within --memory-budget.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/cifar_files.h"
#include "tests/support/faults.h"
#include "tests/support/memory_group.h"

namespace fast::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Arguments = std::vector<std::string>;

constexpr std::size_t kImage = 3072, kBatches = 5, kPerBatch = 2560, kTest = 2000;
constexpr std::size_t kTrain = kBatches * kPerBatch, kWorkers = 64;
/// What the system gives a process in pieces that differ from run to run.
constexpr std::size_t kMargin = 2'000'000;

class WorkerMemoryTest : public ::testing::Test {
 protected:
  WorkerMemoryTest() {
    std::filesystem::create_directory(data_);
    write_cifar10(data_, kBatches, kPerBatch, kTest);
    std::filesystem::create_directory(little_);
    write_cifar10(little_, 1, kWorkers, 1);
  }
  /// One of 64 workers that reaches nobody, and takes a few steps.
  [[nodiscard]] Arguments one(const std::string& folder, const Arguments& more = {}) const {
    Arguments all = {FAST_WORKER,
                     "--topology",
                     "ring:64",
                     "--rank",
                     "5",
                     "--model",
                     "linear",
                     "--data",
                     "cifar10:" + folder,
                     "--epochs",
                     "0.01",
                     "--start-deadline",
                     "0.2",
                     "--batch",
                     "8",
                     "--listen",
                     "tcp://127.0.0.1:0",
                     "--quiet",
                     "--transport",
                     "tcp",
                     "--out",
                     (folder_.path() / "run").string()};
    all.insert(all.end(), {"--fresh"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  struct End {
    int status = 0;
    std::size_t peak = 0;  ///< resident bytes
  };
  /// Runs it in `group`, or in ours where that is null.
  [[nodiscard]] static End run(Arguments arguments, const MemoryGroup* group = nullptr) {
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      if (group != nullptr && !group->enter()) _exit(126);
      execv(argv[0], argv.data());
      _exit(127);
    }
    End end;
    rusage used{};
    EXPECT_EQ(::wait4(child, &end.status, 0, &used), child);
    end.peak = static_cast<std::size_t>(used.ru_maxrss) * 1024;
    return end;
  }
  static void expect_alone(const End& end) {
    EXPECT_TRUE(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 11) << end.status;
  }

  TemporaryFolder folder_;
  std::string data_ = (folder_.path() / "data").string();
  std::string little_ = (folder_.path() / "little").string();
};

TEST_F(WorkerMemoryTest, a_worker_holds_its_own_shard_and_no_more) {
  const End base = run(one(little_)), all = run(one(data_));
  expect_alone(base);
  expect_alone(all);
  const std::size_t shard = kTrain / kWorkers * kImage;
  RecordProperty("without", std::to_string(base.peak));
  RecordProperty("with", std::to_string(all.peak));
  EXPECT_LE(all.peak, base.peak + shard + kMargin) << "of " << kTrain * kImage << " bytes in all";
}

TEST_F(WorkerMemoryTest, a_budget_that_is_too_small_spells_out_data_learner_and_checkpoint) {
  Arguments arguments = one(data_, {"--memory-budget", "1MB"});
  arguments.erase(arguments.begin());
  const ProgramResult result = run_program(FAST_WORKER, arguments, {}, kPatience);
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("--memory-budget 1MB is too little for this model: data "
                                          "6"),
                                HasSubstr(" + batches "), HasSubstr(" + model 12"),
                                HasSubstr(" + gradients "), HasSubstr(" + optimizer "),
                                HasSubstr(" + checkpoint "), HasSubstr("; give --memory-budget ")));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
}

TEST_F(WorkerMemoryTest, a_worker_lives_where_the_system_gives_it_its_budget_and_no_more) {
  std::string why;
  const auto alone = MemoryGroup::make("fast-worker-alone", why);
  const auto group = MemoryGroup::make("fast-worker-limit", why);
  if (alone == nullptr || group == nullptr) {
    // ctest knows these words, and says that the test was not run.
    std::cout << "control groups with a limit of memory cannot be made here: " << why << std::endl;
    return;
  }
  expect_alone(run(one(little_), alone.get()));
  constexpr std::size_t kBudget = 12'000'000;
  ASSERT_TRUE(group->limit(alone->peak() + kBudget + kMargin));
  expect_alone(run(one(data_, {"--memory-budget", std::to_string(kBudget)}), group.get()));
  EXPECT_EQ(group->killed(), 0U);
  RecordProperty("alone", std::to_string(alone->peak()));
  RecordProperty("peak", std::to_string(group->peak()));
}

}  // namespace
}  // namespace fast::testing
