#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fast {

/// Numbers that workers share by name (see Session::mean()): dynamic average consensus (Zhu and
/// Martinez 2010, "Discrete-time dynamic average consensus", Automatica 46). Each name has two
/// scalars of the telemetry: the sum of the latest values, and how many workers have said one.
/// Whoever says a value adds what it has changed by, so that over all workers the scalars stay the
/// sums of what they said last, whatever has been averaged meanwhile.
///
/// A worker that dies leaves its part of the sums with the others. Therefore whoever says a value
/// also forgets a part of what it knows in favour of its own last value, the more, the more steps
/// the network has made since it last did. Where nobody has died the sums stay as they are.
/// Training thread only.
class Means {
 public:
  /// Steps of the network in which a value that nobody says any more fades to 1/e where all others
  /// say new ones; where only a few do, the longer.
  static constexpr double kFadeSteps = 1000;

  /// `names`: of mean_names(). `said`: by an earlier life, see said(), or empty; `steps`: of the
  /// network by then.
  Means(std::vector<std::string> names, int workers, std::span<const double> given = {},
        double steps = 0);

  /// The grid has so many workers from now on.
  void follow(int workers) { workers_ = workers; }

  /// The names that are shared; they stay as they are. Any thread.
  [[nodiscard]] std::size_t count() const { return slots_.size(); }
  [[nodiscard]] const std::string& name(std::size_t number) const { return slots_[number].name; }
  /// How many scalars it needs.
  [[nodiscard]] std::size_t size() const { return kEach * slots_.size(); }
  /// The number of this name. Throws ConfigError where it is none of the names.
  [[nodiscard]] std::size_t find(std::string_view name) const;

  // `scalars`: size() of them, 0 at the start of a run.

  /// This worker's latest value; one that is not finite is left out. `steps`: of the network.
  void say(std::size_t number, double value, double steps, std::span<double> scalars);
  /// The mean over those that have said a value, as this worker knows it; NaN where none is known.
  /// What this worker has changed since it last heard of others counts as one worker's.
  [[nodiscard]] double read(std::size_t number, std::span<const double> scalars) const;

  /// The scalars have been folded, and the neighbours are shown what is here. `heard`: since they
  /// were last, some have averaged with it; a scalar that has moved tells as much.
  void folded(bool heard, std::span<const double> scalars);
  /// A round of lock step: all neighbours have averaged with what was here.
  void averaged(std::span<const double> scalars);

  /// What this worker said last, by number; NaN: nothing yet. For checkpoints.
  [[nodiscard]] std::vector<double> given() const;

 private:
  static constexpr std::size_t kEach = 2;
  struct Sums {
    double sum = 0, count = 0;
    Sums& operator+=(const Sums& other) {
      sum += other.sum;
      count += other.count;
      return *this;
    }
    friend bool operator==(const Sums&, const Sums&) = default;
  };
  static Sums sums_of(std::size_t number, std::span<const double> scalars) {
    return {scalars[kEach * number], scalars[kEach * number + 1]};
  }
  struct Slot {
    std::string name;
    double given = std::nan("");
    double faded_at = 0;  ///< steps of the network
    Sums known{};         ///< its scalars as this worker left them
    Sums fresh{};         ///< changed here since they were last folded
    Sums untold{};        ///< changed before that, and not averaged with anybody yet
  };

  double workers_;
  std::vector<Slot> slots_;
};

}  // namespace fast
