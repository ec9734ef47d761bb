#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

#include "stencil/core/random.h"

namespace fast {

/// For experiments with unequal workers: stretches steps. One thread.
class SlowSteps {
 public:
  /// `ends` is asked again and again while a step is stretched. Both must outlive this.
  SlowSteps(double factor, double jitter, stencil::Random& random, std::function<bool()> ends)
      : factor_(factor), jitter_(jitter), random_(random), ends_(std::move(ends)) {}

  /// A step that computed for so many seconds takes `factor` times that time, plus jitter.
  void stretch(double seconds) {
    using Clock = std::chrono::steady_clock;
    const double factor = factor_ * (1 + jitter_ * random_.uniform());
    if (factor <= 1) return;
    const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                          std::chrono::duration<double>(seconds * (factor - 1)));
    while (!ends_() && Clock::now() < until) {
      std::this_thread::sleep_for(
          std::min<Clock::duration>(until - Clock::now(), std::chrono::milliseconds(100)));
    }
  }

 private:
  double factor_, jitter_;
  stencil::Random& random_;
  std::function<bool()> ends_;
};

}  // namespace fast
