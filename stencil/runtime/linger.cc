#include "stencil/runtime/linger.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace stencil {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr double kDecay = 1.0 / 8;
constexpr int kRemembered = 16;

/// After so many waits of Linger::kQuick in vain, one is tried in each kTryEvery.
constexpr int kMostInVain = 100;
constexpr Duration kTryEvery = 100 * Linger::kQuick;

}  // namespace

TimePoint Linger::boundary(TimePoint now, Duration earlier, bool reachable) {
  // A boundary without sweeps tells nothing about how long they take.
  if (!idle_) took_ = came_;
  came_.reset();
  began_ = now;
  left_over_ = !complete_;
  idle_ = complete_ = quick_ = false;
  if (share_ <= 0 || !resumed_) return now;
  const double step = Seconds(now - earlier - *resumed_).count();
  step_ = step_ == 0 ? step : step_ + kDecay * (step - step_);
  const Duration most = seconds(share_ * step_);
  worthwhile_ = took_ && *took_ <= most;
  if (worthwhile_) return now + most;
  quick_ = most < kQuick && reachable && may_be_quick(now);
  return quick_ ? now + kQuick : now;
}

bool Linger::may_be_quick(TimePoint now) const {
  return in_vain_ < kMostInVain || now >= try_again_;
}

void Linger::goes_on(TimePoint now) {
  resumed_ = now;
  going_ = true;
}

void Linger::resumed(TimePoint now, bool behind) {
  if (worthwhile_) late_ = complete_ || behind ? std::max(late_ - 1, 0) : kRemembered;
  if (!std::exchange(going_, false)) resumed_ = now;
  if (!quick_) return;
  if (!complete_) {
    ++in_vain_;
    try_again_ = now + kTryEvery;
  } else if (left_over_) {
    try_again_ = now;  // the next boundary's sweeps are timed from their beginning
  } else if (!idle_) {
    in_vain_ = 0;
  }
}

void Linger::sweeping(TimePoint now, std::uint64_t due, std::uint64_t left, bool expected) {
  if (quick_ && due == 0 && expected) return;
  idle_ = due == 0;
  complete_ = left == 0;
  if (!idle_ && !came_ && 4 * left <= 3 * due) came_ = now - began_;
}

}  // namespace stencil
