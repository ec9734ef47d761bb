#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

namespace fast {

/// The telemetry that workers exchange beside parameters: float64 scalars, averaged like
/// parameters, so that each worker knows the means over all workers without a collective. Training
/// thread only.
class Progress {
 public:
  static constexpr std::size_t kScalars = 5;

  /// `budget` counts samples over all workers; 0: none. `resumed` holds the scalars of an earlier
  /// life, or is empty.
  Progress(int workers, std::uint64_t budget, std::uint64_t data_size,
           std::span<const double> resumed = {})
      : scale_(budget == 0 ? 0.0 : static_cast<double>(workers) / static_cast<double>(budget)) {
    scalars_[kDataSize] = static_cast<double>(data_size);
    if (resumed.size() == scalars_.size()) std::ranges::copy(resumed, scalars_.begin());
  }

  /// Notes one local step. The mean of `kShare` over workers is the share of the budget that all
  /// have used. Leaves out a loss that is not finite, for example of a step that was skipped for an
  /// overflow.
  void add(std::uint64_t samples, double loss) {
    scalars_[kSteps] += 1;
    scalars_[kShare] += scale_ * static_cast<double>(samples);
    if (!std::isfinite(loss)) return;
    scalars_[kLossSum] = kDecay * scalars_[kLossSum] + loss;
    scalars_[kLossCount] = kDecay * scalars_[kLossCount] + 1;
  }

  [[nodiscard]] std::span<double> scalars() { return scalars_; }
  [[nodiscard]] std::span<const double> scalars() const { return scalars_; }
  /// The mean number of steps over all workers.
  [[nodiscard]] double steps() const { return scalars_[kSteps]; }
  [[nodiscard]] double share() const { return scalars_[kShare]; }
  [[nodiscard]] double loss() const {
    return scalars_[kLossCount] > 0 ? scalars_[kLossSum] / scalars_[kLossCount] : 0;
  }

 private:
  static constexpr double kDecay = 0.98;
  /// Mixer::steps_known() reads the first.
  enum : std::size_t { kSteps, kShare, kLossSum, kLossCount, kDataSize };
  double scale_;
  std::array<double, kScalars> scalars_{};
};

}  // namespace fast
