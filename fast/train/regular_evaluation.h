#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "fast/checkpoint/saved_state.h"
#include "fast/session/recorder.h"
#include "fast/train/best_so_far.h"
#include "fast/train/evaluation.h"
#include "fast/train/evaluation_options.h"
#include "fast/train/model_keeper.h"

namespace fast {

/// Evaluates a model on the test set again and again in the course of a run, as it is between two
/// steps; neighbours go on meanwhile. What each worker finds becomes the mean over all
/// (Session::mean(), names kTestAccuracy and kTestLoss), which travels until the next evaluation:
/// then it decides whether the one before was the best, whose model is kept where that is asked
/// for, and whether all stop. Training thread.
class RegularEvaluation final : public Resumable {
 public:
  static constexpr char kTestAccuracy[] = "test_accuracy";
  static constexpr char kTestLoss[] = "test_loss";

  /// Attached to the learner's adapter during its lifetime where it evaluates at all. The rest must
  /// outlive it.
  RegularEvaluation(const EvaluationOptions& options, Learner& learner, const Dataset& data,
                    ModelKeeper& keeper, const std::atomic<bool>& stop);
  ~RegularEvaluation() override;
  RegularEvaluation(const RegularEvaluation&) = delete;
  RegularEvaluation& operator=(const RegularEvaluation&) = delete;

  /// Training begins at this share, or goes on: what lies before the first beginning is not
  /// evaluated any more.
  void begin(double progress);
  /// Evaluates where it is time, and not where the run is over. Returns a line for people then; the
  /// result is for the recorder's next report().
  [[nodiscard]] std::optional<std::string> look(Exchange& exchange, Recorder& recorder);
  /// Whether all stop, as a rule asks for.
  [[nodiscard]] bool stops(Exchange& exchange) const {
    return rule_ && exchange.decisions() != nullptr && exchange.decisions()->done();
  }
  /// The run is over, and all have agreed on a model, of which `result` is known.
  void end(Exchange& exchange, const TestResult& result);

  void save(StateWriter& to) override;
  void load(const StateReader& from) override;

 private:
  [[nodiscard]] bool due(double progress);
  [[nodiscard]] std::optional<TestResult> evaluate() const;
  /// Of the last evaluation, by the mean over all workers. False: it was judged before.
  bool judge_last(Exchange& exchange);
  /// Says it to the others, and keeps the model until it is judged.
  void propose(Exchange& exchange, const TestResult& result);
  [[nodiscard]] double value_of(const TestResult& result) const {
    return best_.metric == Metric::kAccuracy ? result.accuracy : result.loss;
  }

  const EvaluationOptions options_;
  const EvaluationTimes times_;
  std::optional<StopRule> rule_;
  Learner& learner_;
  const Dataset& data_;
  ModelKeeper& keeper_;
  const std::atomic<bool>& stop_;

  double shares_ = 0;  ///< of the run, so many have passed
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  std::uint64_t number_ = 0;  ///< of the last evaluation; 0: none yet
  bool pending_ = false;      ///< the last is not judged yet
  bool resumed_ = false;
  BestSoFar best_;
};

}  // namespace fast
