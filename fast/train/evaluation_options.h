#pragma once

#include <string>
#include <string_view>

namespace fast {

/// What a worker evaluates while it trains, and what follows from it; see RegularEvaluation. Value
/// type.
struct EvaluationOptions {
  std::string every = "0";  ///< see EvaluationTimes; "0": never
  int examples = 0;         ///< so many of the test set, evenly spread; 0: all
  std::string stop_when{};  ///< see StopRule; empty: when the budget is used
  bool keep_best = false;   ///< the best model is kept beside the last

  /// Whether it evaluates at all.
  [[nodiscard]] bool on() const;
};

/// How often: after each share of the run ("0.1") or after a time ("90s", "5m", "1h"). At most one
/// of the two is above 0.
struct EvaluationTimes {
  double share = 0;
  double seconds = 0;
  /// Throws ConfigError.
  [[nodiscard]] static EvaluationTimes parse(std::string_view text);
};

/// What is judged of an evaluation, on the test set.
enum class Metric { kAccuracy, kLoss };
/// "accuracy", "loss".
[[nodiscard]] std::string_view name(Metric metric);

/// "loss:3": all workers stop together when the loss, as the mean over them, has not become better
/// than the best in three evaluations, one after the other.
struct StopRule {
  Metric metric = Metric::kLoss;
  int patience = 0;
  /// Throws ConfigError.
  [[nodiscard]] static StopRule parse(std::string_view text);
};

}  // namespace fast
