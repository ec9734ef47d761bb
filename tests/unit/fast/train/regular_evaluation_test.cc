#include "fast/train/regular_evaluation.h"

#include <gmock/gmock.h>

#include <cmath>
#include <string>

#include "adapters/flat/models/flat_learner.h"
#include "fast/errors.h"
#include "tests/support/resume_cases.h"

namespace fast::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(EvaluationTimesTest, ASharesOrATime) {
  EXPECT_EQ(EvaluationTimes::parse("0.25").share, 0.25);
  EXPECT_EQ(EvaluationTimes::parse("0.25").seconds, 0);
  EXPECT_EQ(EvaluationTimes::parse("90s").seconds, 90);
  EXPECT_EQ(EvaluationTimes::parse("1.5m").seconds, 90);
  EXPECT_EQ(EvaluationTimes::parse("2h").seconds, 7200);
  EXPECT_EQ(EvaluationTimes::parse("2h").share, 0);
  for (const char* const wrong : {"", "s", "-1", "1.1", "nan", "1d", "90 s", "-5s", "0.1x"}) {
    EXPECT_THROW((void)EvaluationTimes::parse(wrong), ConfigError) << wrong;
  }
}

TEST(EvaluationOptionsTest, NoughtIsNeverHoweverItIsWritten) {
  for (const char* const never : {"0", "0.0", "0s"}) {
    EXPECT_FALSE(EvaluationOptions{.every = never}.on()) << never;
  }
  EXPECT_TRUE(EvaluationOptions{.every = "1h"}.on());
}

TEST(StopRuleTest, AMetricAndItsPatience) {
  EXPECT_EQ(StopRule::parse("loss:3").metric, Metric::kLoss);
  EXPECT_EQ(StopRule::parse("accuracy:12").metric, Metric::kAccuracy);
  EXPECT_EQ(StopRule::parse("accuracy:12").patience, 12);
  for (const char* const wrong : {"", "loss", "loss:", "loss:0", "loss:-1", "loss:x", "mae:3"}) {
    EXPECT_THROW((void)StopRule::parse(wrong), ConfigError) << wrong;
  }
}

TEST(BestSoFarTest, HigherAccuracyAndLowerLossAreBetter) {
  BestSoFar accuracy{.metric = Metric::kAccuracy}, loss{.metric = Metric::kLoss};
  EXPECT_TRUE(accuracy.judge(0.5));
  EXPECT_FALSE(accuracy.judge(0.5));
  EXPECT_FALSE(accuracy.judge(0.4));
  EXPECT_EQ(accuracy.since, 2U);
  EXPECT_TRUE(accuracy.judge(0.6));
  EXPECT_EQ(accuracy.since, 0U);
  EXPECT_TRUE(loss.judge(0.5));
  EXPECT_FALSE(loss.judge(0.6));
  EXPECT_TRUE(loss.judge(0.4));
  EXPECT_FALSE(loss.judge(std::nan("")));
  EXPECT_EQ(loss.value, 0.4);
}

/// The linear model that needs no framework, alone.
struct EvaluatedWorker : LoneWorker {
  explicit EvaluatedWorker(EvaluationOptions options)
      : LoneWorker{.make_learner = make_flat_learner} {
    config.model = "linear";
    config.evaluation = std::move(options);
  }
  [[nodiscard]] std::vector<WorkerProgress> evaluations() const {
    std::vector<WorkerProgress> found;
    for (const WorkerProgress& line : read_metrics(RunFolder(folder.path()).metrics(0)).progress) {
      if (line.test_loss) found.push_back(line);
    }
    return found;
  }
  [[nodiscard]] std::string log() const { return read_text(RunFolder(folder.path()).log(0)); }
};

TEST(RegularEvaluationTest, EvaluatesAfterEachShareAndTellsTheMean) {
  EvaluatedWorker worker({.every = "0.2"});
  ASSERT_EQ(worker.run().code, ExitCode::kOk);
  const auto found = worker.evaluations();
  ASSERT_EQ(found.size(), 5U) << "four, and at the end";
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(found[i].progress, 0.2 * static_cast<double>(i + 1), 0.05);
    EXPECT_EQ(found[i].means.at(RegularEvaluation::kTestLoss), *found[i].test_loss);
    EXPECT_EQ(found[i].means.at(RegularEvaluation::kTestAccuracy), *found[i].test_accuracy);
  }
}

TEST(RegularEvaluationTest, EvaluatesAfterATime) {
  EvaluatedWorker worker({.every = "0.000001s"});
  ASSERT_EQ(worker.run().code, ExitCode::kOk);
  EXPECT_GT(worker.evaluations().size(), 40U) << "after each step, of which there are fifty";
}

TEST(RegularEvaluationTest, APartOfTheTestSetIsSpreadOverIt) {
  EvaluatedWorker worker({.every = "0.5", .examples = 20});
  ASSERT_EQ(worker.run().code, ExitCode::kOk);
  const auto found = worker.evaluations();
  ASSERT_EQ(found.size(), 2U);
  const double rights = 20 * *found[0].test_accuracy;
  EXPECT_NEAR(rights, std::round(rights), 1e-9) << "of twenty";
}

TEST(RegularEvaluationTest, StopsWhereNothingBecomesBetter) {
  EvaluatedWorker worker({.every = "0.1", .stop_when = "accuracy:2"});
  worker.config.optimizer.learning_rate = 1e-12;
  const WorkerOutcome outcome = worker.run();
  EXPECT_EQ(outcome.code, ExitCode::kOk) << outcome.text;
  const WorkerHistory history = read_metrics(RunFolder(worker.folder.path()).metrics(0));
  // The first is the best, two are no better, and the fourth would be due.
  EXPECT_NEAR(history.progress.back().progress, 0.4, 0.05);
  EXPECT_EQ(std::ranges::count(history.events, "stopping", &WorkerHistory::Event::event), 1);
  EXPECT_THAT(worker.log(), AllOf(HasSubstr("no better than"), HasSubstr("in 2 evaluations")));
}

TEST(RegularEvaluationTest, KeepsTheBestAndNotTheLast) {
  EvaluatedWorker worker({.every = "0.1", .keep_best = true});
  worker.config.optimizer.learning_rate = 5;  // comes apart sooner or later
  worker.config.schedule = "constant";
  worker.config.warmup = 0.9;
  ASSERT_EQ(worker.run().code, ExitCode::kOk);
  const auto found = worker.evaluations();
  double best = -1;
  for (const WorkerProgress& one : found) best = std::max(best, *one.test_accuracy);
  const RunFolder folder(worker.folder.path());
  const SafetensorsFile file = SafetensorsFile::open(folder.worker_best(0));
  const std::string evaluation = file.metadata().at(kEvaluationKey);
  const std::size_t index = evaluation == "last" ? found.size() - 1 : std::stoul(evaluation) - 1;
  ASSERT_LT(index, found.size());
  EXPECT_EQ(*found[index].test_accuracy, best);
  EXPECT_FALSE(std::filesystem::exists(folder.proposed(0)));
}

}  // namespace
}  // namespace fast::testing
