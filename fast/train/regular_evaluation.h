#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "fast/session/recorder.h"
#include "fast/train/evaluation.h"

namespace fast {

/// Evaluates a model on the test set after each share of a run, as it is between two steps;
/// neighbours go on meanwhile. Training thread.
class RegularEvaluation {
 public:
  /// `every`: a share of the run; 0: never. The rest must outlive it.
  RegularEvaluation(double every, Learner& learner, const Dataset& data,
                    const std::atomic<bool>& stop)
      : every_(every), learner_(learner), data_(data), stop_(stop) {}

  /// Training begins or goes on at this share: what lies before is not evaluated any more.
  void begin(double progress) { shares_ = passed(progress); }
  /// Evaluates where another share has passed, and not where the run is over. Returns a line for
  /// people then; the result is for the recorder's next report().
  [[nodiscard]] std::optional<std::string> look(double progress, Recorder& recorder);

 private:
  [[nodiscard]] double passed(double progress) const;

  double every_;
  Learner& learner_;
  const Dataset& data_;
  const std::atomic<bool>& stop_;
  double shares_ = 0;
};

}  // namespace fast
