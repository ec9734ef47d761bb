#include "fast/train/regular_evaluation.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "fast/session/exchange.h"

namespace fast {

double RegularEvaluation::passed(double progress) const {
  return every_ > 0 ? std::floor(progress / every_) : 0;
}

std::optional<std::string> RegularEvaluation::look(double progress, Recorder& recorder) {
  const double now = passed(progress);
  if (now <= shares_ || progress >= kWholeRun) return std::nullopt;
  shares_ = now;
  const auto begun = std::chrono::steady_clock::now();
  const std::optional<TestResult> result = test(learner_, data_, stop_);
  if (!result) return std::nullopt;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  recorder.set_result(known(result->accuracy), result->loss, took.count());
  return fmt::format("after {:.0f} % of the run: {}", 100 * progress, in_words(*result));
}

}  // namespace fast
