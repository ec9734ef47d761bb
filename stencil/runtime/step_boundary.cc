#include "stencil/runtime/step_boundary.h"

#include <utility>

namespace stencil {

bool StepBoundary::begin(std::span<float> x, std::span<double> scalars) {
  const FoldReport report = mixer_.fold(x);
  mixer_.fold_telemetry(scalars);
  return report.finite;
}

bool StepBoundary::made_from(std::span<float> x, std::size_t first) {
  const auto made = made_.made_from(first);
  if (!made) return false;
  made_finite_ &= mixer_.fold(x, made->from, made->to).finite;
  standing_.made_from = made->from;
  return true;
}

BucketRange StepBoundary::would_be_made(std::size_t first) const {
  const auto made = made_.would_be_made(first);
  if (!made) return {};
  const BucketRange last = mixer_.layout().bucket(made->to - 1);
  const std::size_t begin = mixer_.layout().bucket(made->from).begin;
  return {begin, last.begin + last.size - begin};
}

bool StepBoundary::take_over(std::span<float> x, std::span<double> scalars) {
  mixer_.undo_step(x);
  const FoldReport report = mixer_.fold(x);
  mixer_.fold_telemetry(scalars);
  made_.boundary();
  standing_.made_from = Standing::kNoBucket;
  made_finite_ = true;
  return report.finite;
}

bool StepBoundary::end_step(std::span<float> x, std::span<double> scalars) {
  const FoldReport report = mixer_.fold_news(x, standing_.made_from);
  mixer_.fold_telemetry(scalars);
  standing_.made_from = Standing::kNoBucket;
  ++standing_.step;
  waited_ = false;
  return std::exchange(made_finite_, true) && report.finite;
}

void StepBoundary::pause(Pause pause) {
  standing_.pause = pause;
  waited_ |= pause != Pause::kNone;
}

bool StepBoundary::resume(std::span<float> x, std::span<double> scalars) {
  made_.boundary();
  if (!waited_) return true;
  const FoldReport report = mixer_.fold_news(x);
  mixer_.fold_telemetry(scalars);
  return report.finite;
}

}  // namespace stencil
