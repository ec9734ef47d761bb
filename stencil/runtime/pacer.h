#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "stencil/core/types.h"

namespace stencil {

/// Bounds what a worker sends over all its links together, as a bucket of tokens: what may be late
/// is sent while there are any, and takes as many as it has bytes, so that there may be a debt;
/// what must not be late is sent at once and makes the debt larger. No clock: the time is told.
class Pacer {
 public:
  /// Bytes a second; 0: no bound.
  explicit Pacer(double rate = 0) : rate_(rate), tokens_(rate * kBurst) {}

  [[nodiscard]] bool paces() const { return rate_ > 0; }
  /// It is `now`.
  void advance(TimePoint now) {
    if (now <= now_) return;
    const double passed = std::chrono::duration<double>(now - now_).count();
    if (now_ != TimePoint{}) tokens_ = std::min(rate_ * kBurst, tokens_ + rate_ * passed);
    now_ = now;
  }
  /// Whether a frame that may be late may be sent now.
  [[nodiscard]] bool open() const { return !paces() || tokens_ > 0; }
  /// So many bytes are sent now.
  void take(std::size_t bytes) {
    if (paces()) tokens_ -= static_cast<double>(bytes);
  }
  /// From when on one may, if nothing else is sent before.
  [[nodiscard]] TimePoint opens() const {
    if (open()) return now_;
    const auto wait = std::chrono::duration<double>(-tokens_ / rate_);
    // Rounded up, so that it is open then.
    return now_ + std::chrono::duration_cast<Duration>(wait) + std::chrono::milliseconds(1);
  }

  /// Seconds of its rate that may be sent at once after a silence.
  static constexpr double kBurst = 0.25;

 private:
  double rate_;
  double tokens_;
  TimePoint now_{};
};

}  // namespace stencil
