// How a run of one worker ends: its outcome, and whether the model is kept.
#include "fast/train/worker.h"

#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>

#include "adapters/flat/flat_adapter.h"
#include "fast/data/dataset.h"
#include "fast/errors.h"
#include "fast/run/metrics.h"
#include "fast/run/run_folder.h"
#include "fast/run/safetensors.h"
#include "fast/session/session.h"
#include "fast/train/memory_watch.h"
#include "tests/support/cifar_files.h"
#include "tests/support/process.h"

namespace fast::testing {
namespace {

using ::testing::HasSubstr;

constexpr int kSteps = 6;

/// Its model counts the steps.
class CountingLearner final : public Learner {
 public:
  ModelAdapter& adapter() override { return adapter_; }
  void set_learning_rate(double rate) override { rates.push_back(rate); }
  StepResult train_step(const Batch& /*batch*/) override {
    values_[0] += 1;
    if (on_step) on_step();
    return {.loss = 1, .correct = 1};
  }
  StepResult evaluate(const Batch& /*batch*/) override {
    if (on_evaluate) on_evaluate();
    return {.loss = 1, .correct = 1};
  }
  Statistics statistics() const override { return Statistics::kNone; }
  void begin_statistics() override {}
  void accumulate_statistics(const Batch& /*batch*/) override {}

  std::function<void()> on_step, on_evaluate;
  std::vector<double> rates;

 private:
  std::vector<float> values_ = {0};
  FlatAdapter adapter_{values_};
};

/// Calls `fault` at one exchange (1 to kSteps), at joining (0) or at the end (kSteps + 1).
struct Script {
  int at = -1;
  std::function<void()> fault;
};

using Counters = decltype(SessionStatus::counters);

class ScriptedExchange final : public Exchange {
 public:
  ScriptedExchange(Script script, Agreement agreement, Counters counters)
      : script_(std::move(script)), agreement_(agreement), counters_(std::move(counters)) {}
  void join() override { reach(0); }
  void exchange(const StepReport& /*report*/) override { reach(++steps_); }
  Agreement finish() override {
    reach(kSteps + 1);
    return agreement_;
  }
  double progress() const override { return static_cast<double>(steps_) / kSteps; }
  double network_loss() const override { return 1; }
  SessionStatus status() const override {
    SessionStatus status;
    status.mean_data_size = 16;
    status.counters = counters_;
    status.neighbours = {{.rank = 0, .paused = counters_.contains("paused")}};
    return status;
  }

 private:
  void reach(int moment) const {
    if (moment == script_.at) script_.fault();
  }
  Script script_;
  Agreement agreement_;
  Counters counters_;
  int steps_ = 0;
};

class WorkerTest : public ::testing::Test {
 protected:
  WorkerOutcome run(Script script) {
    WorkerConfig config = config_;
    config.session.topology = "ring:2";
    config.session.rank = 1;
    config.batch = 1;
    config.quiet = true;
    config.out = folder_.path().string();
    CountingLearner learner;
    learner.on_step = on_step_;
    learner.on_evaluate = on_evaluate_;
    const auto make = [&](ModelAdapter&, SessionOptions options) {
      given_ = std::move(options);
      return std::make_unique<ScriptedExchange>(script, agreement_, counters_);
    };
    const WorkerOutcome outcome = Worker(config, data_, learner, make).run(stop_);
    rates_ = learner.rates;
    const auto end = read_metrics(run_.metrics(1)).end;
    EXPECT_EQ(end ? end->exit_code : -1, static_cast<int>(outcome.code));
    return outcome;
  }
  /// Steps that the saved model has seen; -1 where none is saved.
  [[nodiscard]] float saved() const {
    if (!std::filesystem::exists(run_.worker_model(1))) return -1;
    const SafetensorsFile file = SafetensorsFile::open(run_.worker_model(1));
    return *reinterpret_cast<const float*>(file.tensors().at(0).bytes.data());
  }

  [[nodiscard]] std::string ended() const {
    return SafetensorsFile::open(run_.worker_model(1)).metadata().at(kEndedKey);
  }

  WorkerConfig config_;
  Agreement agreement_ = Agreement::kAgreed;
  Counters counters_;  ///< of the exchange
  std::function<void()> on_step_, on_evaluate_;
  SessionOptions given_;       ///< to the exchange
  std::vector<double> rates_;  ///< learning rates of the steps
  TemporaryFolder folder_;
  RunFolder run_{folder_.path()};
  Dataset data_ = load_dataset("synthetic:64,160", 1);
  std::atomic<bool> stop_{false};
};

struct Ending {
  const char* name;
  std::function<void()> fault;
  ExitCode code;
  bool kept;  ///< whether its model is saved
};
void PrintTo(const Ending& ending, std::ostream* out) {
  *out << ending.name;
}

class WorkerEndingTest : public WorkerTest, public ::testing::WithParamInterface<Ending> {};

template <typename Error>
std::function<void()> throws() {
  return [] { throw Error("what happened"); };
}

INSTANTIATE_TEST_SUITE_P(
    Faults, WorkerEndingTest,
    ::testing::Values(Ending{"NonFinite", throws<NonFiniteError>(), ExitCode::kNonFinite, false},
                      Ending{"Refused", throws<RefusedError>(), ExitCode::kRefused, true},
                      Ending{"Deadline", throws<DeadlineError>(), ExitCode::kDeadline, true},
                      Ending{"Model", [] { throw AdapterError("what happened", "a remedy"); },
                             ExitCode::kModel, false},
                      Ending{"AnythingElse", throws<std::runtime_error>(), ExitCode::kFailure,
                             true}),
    [](const auto& info) { return info.param.name; });

TEST_P(WorkerEndingTest, KeepsTheModelWhereWhatHappenedHasNotSpoiltIt) {
  const WorkerOutcome outcome = run({3, GetParam().fault});
  EXPECT_EQ(outcome.code, GetParam().code);
  EXPECT_THAT(outcome.text, HasSubstr("what happened"));
  EXPECT_EQ(saved(), GetParam().kept ? 3 : -1);
}

TEST_P(WorkerEndingTest, HasNothingToKeepBeforeTheFirstStep) {
  EXPECT_EQ(run({0, GetParam().fault}).code, GetParam().code);
  EXPECT_EQ(saved(), -1);
}

TEST_P(WorkerEndingTest, KeepsATrainedModelWhateverFailsWhileItSettles) {
  EXPECT_EQ(run({kSteps + 1, GetParam().fault}).code, GetParam().code);
  EXPECT_EQ(saved(), GetParam().kept ? kSteps : -1);
}

TEST_F(WorkerTest, AllWell) {
  EXPECT_EQ(run({}).code, ExitCode::kOk);
  EXPECT_EQ(saved(), kSteps);
  EXPECT_EQ(ended(), "agreed");
}

TEST_F(WorkerTest, WithoutAnyExchangeItIsNotWell) {
  agreement_ = Agreement::kAlone;
  const WorkerOutcome outcome = run({});
  EXPECT_EQ(outcome.code, ExitCode::kNoExchange);
  EXPECT_THAT(outcome.text, HasSubstr("no exchange"));
  EXPECT_EQ(saved(), kSteps);
  EXPECT_EQ(ended(), "alone");
}

TEST_F(WorkerTest, AtRestAtTheEndItNamesTheAllowanceOfData) {
  agreement_ = Agreement::kAlone;
  config_.session.exchange.data_cap = "2MB/hour";
  counters_ = {{"sweeps", 3}, {"data_rests", 1}};
  const WorkerOutcome outcome = run({});
  EXPECT_EQ(outcome.code, ExitCode::kWorkerLost);
  EXPECT_THAT(outcome.text, HasSubstr("--data-cap 2MB/hour, and agreed with nobody"));
  EXPECT_EQ(saved(), kSteps);
}

TEST_F(WorkerTest, CutOffByNeighboursThatPausedItSaysSo) {
  agreement_ = Agreement::kAlone;
  counters_ = {{"sweeps", 3}, {"paused", 1}};
  const WorkerOutcome outcome = run({});
  EXPECT_EQ(outcome.code, ExitCode::kWorkerLost);
  EXPECT_THAT(outcome.text, HasSubstr("its neighbours have paused"));
}

TEST_F(WorkerTest, AStepThatTakesMoreMemoryThanTheBudgetIsALineInTheLog) {
  counters_ = {{"memory_budget", 32'000'000}, {"memory_held", 20'000'000}};
  config_.memory_before = own_memory().own();
  on_step_ = [] {
    const std::vector<char> results(96'000'000, 'x');
    EXPECT_EQ(results.back(), 'x');
  };
  EXPECT_EQ(run({}).code, ExitCode::kOk);
  const std::string log = testing::read_text(run_.log(1));
  EXPECT_THAT(log, HasSubstr("--memory-budget 32MB: "));
  EXPECT_THAT(log, HasSubstr("the sum that is held to the budget is 20MB"));
  EXPECT_EQ(log.find("--memory-budget"), log.rfind("--memory-budget")) << "once";
}

TEST_F(WorkerTest, TheModelIsSavedBeforeItIsEvaluatedAndEvaluationHearsAStop) {
  on_evaluate_ = [this] {
    EXPECT_EQ(saved(), kSteps);
    stop_ = true;
  };
  const WorkerOutcome outcome = run({});
  EXPECT_EQ(outcome.code, ExitCode::kInterrupted);
  EXPECT_THAT(outcome.text, HasSubstr("not evaluated"));
  EXPECT_EQ(ended(), "agreed");
}

TEST_F(WorkerTest, AModelThatCannotBeSavedIsEvaluatedAndTriedAgain) {
  // A folder in its place simulates a full disk, which has room again after the evaluation.
  const auto obstacle = run_.worker_model(1) / "in the way";
  std::filesystem::create_directories(obstacle);
  on_evaluate_ = [this] { std::filesystem::remove_all(run_.worker_model(1)); };
  EXPECT_EQ(run({}).code, ExitCode::kOk);
  EXPECT_EQ(saved(), kSteps);
}

TEST_F(WorkerTest, AModelThatCannotBeSavedIsAnErrorThatNamesTheFileAfterTheAccuracy) {
  std::filesystem::create_directories(run_.worker_model(1) / "in the way");
  const WorkerOutcome outcome = run({});
  EXPECT_EQ(outcome.code, ExitCode::kFile);
  EXPECT_THAT(outcome.text, HasSubstr(run_.worker_model(1).string()));
  EXPECT_THAT(testing::read_text(run_.log(1)), HasSubstr("test accuracy"));
}

TEST_F(WorkerTest, RoomForTheModelIsKeptWhileItTrains) {
  std::uintmax_t kept = 0;
  EXPECT_EQ(run({3, [&] { kept = std::filesystem::file_size(run_.worker(1) / ".room"); }}).code,
            ExitCode::kOk);
  EXPECT_GE(kept, sizeof(float));
  EXPECT_FALSE(std::filesystem::exists(run_.worker(1) / ".room"));
}

TEST_F(WorkerTest, EndsByABudgetOrWithDataOfItsOwnByTheEpochsOfAll) {
  config_.epochs = 2;
  EXPECT_EQ(run({}).code, ExitCode::kOk);
  EXPECT_EQ(given_.budget, 128U);
  EXPECT_EQ(given_.epochs, 0);
  EXPECT_EQ(given_.data_size, 32U);
  EXPECT_EQ(stencil::value_of(given_.terms, "model"), config_.model);
  config_.partition = "own";
  EXPECT_EQ(run({}).code, ExitCode::kOk);
  EXPECT_EQ(given_.budget, 0U);
  EXPECT_EQ(given_.epochs, 2);
  EXPECT_EQ(given_.data_size, 64U);
  EXPECT_EQ(read_metrics(run_.metrics(1)).progress.back().network_samples, 2 * 2 * 16)
      << "two epochs of two workers, which hold 16 examples in the mean";
}

TEST_F(WorkerTest, InLockStepTheEndFollowsFromItsOwnShardWhichOthersCompare) {
  config_.epochs = 2;
  config_.partition = "own";
  config_.session.exchange.mode = "sync";
  (void)run({kSteps, [this] { stop_ = true; }});
  EXPECT_EQ(given_.budget, 256U) << "twice its own 64, as if each of two had as many";
  EXPECT_EQ(given_.epochs, 0);
}

TEST_F(WorkerTest, WeighedByDataItsRateFollowsTheSizeOfItsShard) {
  config_.schedule = "constant";
  config_.warmup = 0;
  EXPECT_EQ(run({}).code, ExitCode::kOk);
  const std::vector<double> alike = rates_;
  config_.weighting = "data";
  EXPECT_EQ(run({}).code, ExitCode::kOk);
  ASSERT_EQ(rates_.size(), alike.size());
  for (std::size_t i = 0; i < alike.size(); ++i) {
    EXPECT_DOUBLE_EQ(rates_[i], 2 * alike[i]) << "32 examples, where the mean is 16";
  }
}

TEST_F(WorkerTest, StoppedOnRequest) {
  agreement_ = Agreement::kDeadline;
  const WorkerOutcome outcome = run({2, [this] { stop_ = true; }});
  EXPECT_EQ(outcome.code, ExitCode::kInterrupted);
  EXPECT_EQ(saved(), 2);
  EXPECT_EQ(ended(), "early");
}

TEST_F(WorkerTest, StoppedBeforeItsFirstStepItSavesNoModel) {
  stop_ = true;
  const WorkerOutcome outcome = run({});
  EXPECT_EQ(outcome.code, ExitCode::kInterrupted);
  EXPECT_THAT(outcome.text, HasSubstr("before its first step"));
  EXPECT_EQ(saved(), -1);
}

}  // namespace
}  // namespace fast::testing
