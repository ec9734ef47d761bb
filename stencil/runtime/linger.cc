#include "stencil/runtime/linger.h"

#include <chrono>

namespace stencil {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr double kDecay = 1.0 / 8;

}  // namespace

TimePoint Linger::boundary(TimePoint now, Duration earlier) {
  // A boundary without sweeps tells nothing about how long they take.
  if (!idle_) took_ = came_;
  came_.reset();
  began_ = now;
  idle_ = complete_ = false;
  if (share_ <= 0 || !resumed_) return now;
  const double step = Seconds(now - earlier - *resumed_).count();
  step_ = step_ == 0 ? step : step_ + kDecay * (step - step_);
  const Duration most = seconds(share_ * step_);
  worthwhile_ = took_ && *took_ <= most;
  return worthwhile_ ? now + most : now;
}

void Linger::sweeping(TimePoint now, std::uint64_t due, std::uint64_t left) {
  idle_ = due == 0;
  complete_ = left == 0;
  if (!idle_ && !came_ && 4 * left <= 3 * due) came_ = now - began_;
}

}  // namespace stencil
