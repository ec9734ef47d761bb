#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace fast {

/// When training is over: after a number of samples over all workers, or of passes over all their
/// examples. At most one of the two is above 0; none: no end.
struct Aim {
  std::uint64_t budget = 0;
  double epochs = 0;
};

/// The telemetry that workers exchange beside parameters: float64 scalars, averaged like
/// parameters, so that each worker knows the means over all workers without a collective. What a
/// worker has done of a budget since it last heard of others counts once, not as if all had kept
/// pace with it; of epochs, each makes those of its own examples. Training thread only.
class Progress {
 public:
  /// Its own scalars, the first of scalars().
  static constexpr std::size_t kScalars = 6;

  /// `data_size`: this worker's examples, above 0 where `aim` is of epochs. `resumed` holds the
  /// scalars of an earlier life, or is empty. `others`: scalars that are not its own, see others().
  Progress(int workers, Aim aim, std::uint64_t data_size, std::span<const double> resumed = {},
           std::size_t others = 0)
      : workers_(workers), aim_(aim), scalars_(kScalars + others) {
    scalars_[kDataSize] = static_cast<double>(data_size);
    if (resumed.size() > scalars_.size()) return;
    std::ranges::copy(resumed, scalars_.begin());
    scalars_[kStop] = 0;  // whoever resumes a run goes on with it
  }

  /// Turns `scalars`, of an earlier life, into those of a run whose budget of samples is longer:
  /// `part` of it was the earlier one.
  static void lengthen(std::span<double> scalars, double part) {
    if (scalars.size() > kFraction) scalars[kFraction] *= part;
  }

  /// The grid has so many workers from now on.
  void follow(int workers) { workers_ = workers; }

  /// Notes one local step. The mean of `kFraction` over workers is the share of the budget that all
  /// have used; with an aim of epochs, it is the number of samples that a worker has used. Leaves
  /// out a loss that is not finite, for example of a step that was skipped for an overflow.
  void add(std::uint64_t samples, std::optional<double> loss) {
    scalars_[kSteps] += 1;
    const double added = scale() * static_cast<double>(samples);
    scalars_[kFraction] += added;
    if (aim_.epochs == 0) untold_ += added;
    if (!loss || !std::isfinite(*loss)) return;
    scalars_[kLossSum] = kDecay * scalars_[kLossSum] + *loss;
    scalars_[kLossCount] = kDecay * scalars_[kLossCount] + 1;
  }

  /// Ends the run for all workers: whoever is told of it, by any number of others, is done.
  void stop() { scalars_[kStop] += 1; }
  /// False of scalars that lack it: of a checkpoint of another version.
  [[nodiscard]] static bool stopped(std::span<const double> scalars) {
    return scalars.size() > kStop && scalars[kStop] > 0;
  }

  /// The scalars hold what a neighbour knew, or all workers are in lock step.
  void heard() { untold_ = 0; }

  [[nodiscard]] std::span<double> scalars() { return scalars_; }
  [[nodiscard]] std::span<const double> scalars() const { return scalars_; }
  /// Scalars that travel with its own: those of Means.
  [[nodiscard]] std::span<double> others() { return std::span(scalars_).subspan(kScalars); }
  /// What honest work can have brought each of scalars() to at most: see Mixer::bound_scalars().
  /// `steps`: those of a worker. Losses, and what is not its own, may be any number.
  [[nodiscard]] std::vector<double> most(double steps) const {
    std::vector<double> most(scalars_.size(), std::numeric_limits<double>::infinity());
    most[kSteps] = steps;
    for (const std::size_t count : {kFraction, kLossCount, kDataSize, kStop})
      most[count] = kMostCount;
    return most;
  }
  /// The mean number of steps over all workers.
  [[nodiscard]] double steps() const { return scalars_[kSteps]; }
  /// Of the way to the aim; 0 without one.
  [[nodiscard]] double fraction() const { return fraction_of(scalars_); }
  /// The same, by scalars that are not folded yet.
  [[nodiscard]] double fraction_of(std::span<const double> scalars) const {
    const double known = scalars[kFraction] - untold_ * (1 - 1.0 / workers_);
    return aim_.epochs > 0 ? known / (aim_.epochs * scalars[kDataSize]) : known;
  }
  /// Examples that a worker holds in the mean.
  [[nodiscard]] double data_size() const { return scalars_[kDataSize]; }
  /// Decayed mean over all workers; NaN where none has told one.
  [[nodiscard]] double loss() const {
    return scalars_[kLossCount] > 0 ? scalars_[kLossSum] / scalars_[kLossCount] : std::nan("");
  }

 private:
  /// What a sample adds to kFraction.
  [[nodiscard]] double scale() const {
    if (aim_.epochs > 0) return 1;
    return aim_.budget == 0 ? 0.0 : workers_ / static_cast<double>(aim_.budget);
  }

  static constexpr double kDecay = 0.98;
  static constexpr double kMostCount = 1e18;  ///< no run counts so many samples, or anything else
  /// Mixer::steps_known() reads the first.
  enum : std::size_t { kSteps, kFraction, kLossSum, kLossCount, kDataSize, kStop };
  double workers_;
  Aim aim_;
  double untold_ = 0;  ///< of kFraction, this worker's own since heard()
  std::vector<double> scalars_;
};

}  // namespace fast
