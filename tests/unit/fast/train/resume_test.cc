// A killed worker resumes from its checkpoint when it is started again.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "adapters/flat/models/flat_learner.h"
#include "fast/checkpoint/checkpoint.h"
#include "fast/checkpoint/kept_checkpoints.h"
#include "fast/errors.h"
#include "tests/support/resume_cases.h"

namespace fast::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// Trains the linear model that needs no framework.
struct LinearWorker : LoneWorker {
  explicit LinearWorker(const std::string& optimizer = "sgd")
      : LoneWorker{.make_learner = make_flat_learner} {
    config.model = "linear";
    config.optimizer.name = optimizer;
    if (optimizer == "adamw") config.optimizer.learning_rate = 1e-3;
  }
  [[nodiscard]] fs::path checkpoint() const { return RunFolder(folder.path()).checkpoint(0); }
  [[nodiscard]] std::string log() const { return read_text(RunFolder(folder.path()).log(0)); }
};

void damage(const fs::path& file) {
  std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
  out.seekp(-3, std::ios::end);
  out.put('!');
}

class ResumeTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ResumeTest, AKilledWorkerEndsBitForBitWhereItWouldHaveEnded) {
  LinearWorker undisturbed(GetParam()), killed(GetParam());
  undisturbed.config.checkpoint_every = 0;
  expect_that_resuming_changes_nothing(undisturbed, killed);
}

INSTANTIATE_TEST_SUITE_P(Optimizers, ResumeTest, ::testing::Values("sgd", "adamw"),
                         [](const auto& info) { return std::string(info.param); });

TEST(ResumeEvaluationTest, AKilledWorkerKeepsTheModelThatItWouldHaveKept) {
  LinearWorker undisturbed, killed;
  for (LinearWorker* const worker : {&undisturbed, &killed}) {
    worker->config.evaluation = {.every = "0.1", .examples = 20, .keep_best = true};
  }
  expect_that_resuming_changes_nothing(undisturbed, killed);
  const auto best = [](const LinearWorker& worker) {
    return read_text(RunFolder(worker.folder.path()).worker_best(0));
  };
  EXPECT_FALSE(best(undisturbed).empty());
  EXPECT_TRUE(best(undisturbed) == best(killed));
}

TEST(ResumeKeptTest, ARunGoesBackToACheckpointThatWasKept) {
  LinearWorker worker, undisturbed;
  worker.config.session.keep_checkpoints = 1000;
  // At least one of each life is on the disk.
  for (int life = 0; life < 2; ++life) ASSERT_EQ(worker.run(15).text, "killed");
  std::uint64_t steps = 0;
  while (!fs::exists(kept_checkpoint(worker.checkpoint(), steps))) ASSERT_LT(++steps, 15U);
  fs::remove(worker.checkpoint());
  fs::copy_file(kept_checkpoint(worker.checkpoint(), steps), worker.checkpoint());
  ASSERT_EQ(undisturbed.run().code, ExitCode::kOk);
  ASSERT_EQ(worker.run().code, ExitCode::kOk);
  EXPECT_THAT(worker.log(), HasSubstr("goes on from step " + std::to_string(steps) + " "));
  EXPECT_TRUE(undisturbed.model() == worker.model());
}

TEST(ResumeFaultsTest, WhereTheNewestIsDamagedItGoesOnFromTheOneBeforeAndSaysSo) {
  LinearWorker undisturbed, killed;
  ASSERT_EQ(undisturbed.run().code, ExitCode::kOk);
  for (int life = 0; life < 2; ++life) ASSERT_EQ(killed.run(15).text, "killed");
  ASSERT_TRUE(fs::exists(previous_checkpoint(killed.checkpoint())));
  damage(killed.checkpoint());
  ASSERT_EQ(killed.run().code, ExitCode::kOk);
  EXPECT_TRUE(undisturbed.model() == killed.model());
  EXPECT_THAT(killed.log(),
              AllOf(HasSubstr("checksum is wrong"), HasSubstr("going on from the one before")));
}

TEST(ResumeFaultsTest, WhereAllAreDamagedItDoesNotBeginAnewUnasked) {
  LinearWorker killed;
  for (int life = 0; life < 2; ++life) ASSERT_EQ(killed.run(15).text, "killed");
  damage(killed.checkpoint());
  damage(previous_checkpoint(killed.checkpoint()));
  EXPECT_THROW(killed.run(), FileError);
  killed.config.fresh = true;
  EXPECT_EQ(killed.run().code, ExitCode::kOk);
}

TEST(ResumeFaultsTest, ACheckpointOfOtherTermsIsRefusedByName) {
  LinearWorker worker;
  ASSERT_EQ(worker.run(20).text, "killed");
  worker.config.partition = "by-label";
  worker.config.session.naming = stencil::as_flag;  // as the command line does, which has --fresh
  try {
    worker.run();
    ADD_FAILURE() << "went on";
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("partition is iid there, by-label here"), HasSubstr("--fresh")));
  }
}

TEST(ResumeFaultsTest, ARunThatIsOverEndsAtOnceWhenItIsStartedAgain) {
  LinearWorker worker;
  ASSERT_EQ(worker.run().code, ExitCode::kOk);
  const std::string model = worker.model();
  ASSERT_EQ(worker.run(1).code, ExitCode::kOk) << "it makes no step";
  EXPECT_TRUE(worker.model() == model);
}

}  // namespace
}  // namespace fast::testing
