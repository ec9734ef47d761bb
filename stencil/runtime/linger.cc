#include "stencil/runtime/linger.h"

#include <chrono>

namespace stencil {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr double kDecay = 1.0 / 8;

}  // namespace

TimePoint Linger::until(TimePoint now, bool swept) {
  if (share_ <= 0 || !resumed_) return now;
  const double step = Seconds(now - *resumed_).count();
  step_ = step_ == 0 ? step : step_ + kDecay * (step - step_);
  return swept ? now + std::chrono::duration_cast<Duration>(Seconds(share_ * step_)) : now;
}

}  // namespace stencil
