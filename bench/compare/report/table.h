#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/compare/cell.h"
#include "bench/compare/cell_result.h"
#include "bench/compare/spec.h"

namespace fast::compare {

struct Finished {
  Cell cell;
  CellResult result;
};

/// Mean and sample standard deviation over seeds; the deviation is 0 where there is one.
struct Spread {
  double mean = 0, deviation = 0;
  int count = 0;
};
[[nodiscard]] Spread spread_of(const std::vector<double>& values);

/// The final results of one seed's run.
struct RunEnd {
  std::uint64_t seed = 0;
  double accuracy = 0;  ///< of the mean model
  double worst = 0;     ///< of the worst worker
  double held_out = 0;  ///< accuracy of the mean model on the held-out examples
  double loss = 0;      ///< over them
  std::optional<Unseen> unseen = std::nullopt;
};

/// One strategy under one condition, all seeds together.
struct Row {
  Cell cell;                       ///< of the first seed
  std::string label;               ///< its name, unique within its group
  std::vector<std::string> cells;  ///< names, of all seeds
  int seeds = 0, diverged = 0, failed = 0;
  int lost = 0;                              ///< workers that died in runs that ended well
  std::optional<Spread> accuracy;            ///< of the mean model
  std::optional<Spread> unseen;              ///< of the mean model on the unseen examples
  std::optional<Spread> worst;               ///< of the worst worker
  std::optional<Spread> seconds;             ///< of training
  std::optional<Spread> seconds_to_target;   ///< only where every seed got there
  std::optional<Spread> samples_per_second;  ///< all workers together
  std::optional<Spread> bytes_per_sample;
  double samples = 0;
  double consensus = 0;
  std::vector<RunEnd> ends;              ///< of the seeds that ended well, where they learn
  std::vector<CurvePoint> curve;         ///< mean over seeds
  std::vector<double> curve_deviation;   ///< of its accuracy
  std::optional<double> at_equal_time;   ///< held-out accuracy when the fastest row was done
  std::optional<double> at_equal_bytes;  ///< and when the leanest exchanging row was done
};

/// A condition's rows, and the target accuracy.
struct Group {
  Condition condition;
  double target = 0;  ///< held-out accuracy: kTargetShare of the all-reduce's last (or the best's)
  std::optional<double> ceiling;  ///< see speedup_ceiling()
  std::vector<Row> rows;

  /// On the topology; a row of `single` has one.
  [[nodiscard]] int workers() const;
};
inline constexpr double kTargetShare = 0.95;

[[nodiscard]] std::vector<Group> make_groups(const std::vector<Finished>& finished);

/// When a curve first reaches `accuracy`, interpolated linearly between its points.
[[nodiscard]] std::optional<double> seconds_until(const std::vector<CurvePoint>& curve,
                                                  double accuracy);

/// The speed-up of a row over its group's first all-reduce: in time to the target or, where nothing
/// is learnt (stand-in), in samples per second. Nothing for that all-reduce itself.
[[nodiscard]] std::optional<double> speedup(const Group& group, const Row& row);

/// A strategy's rows under the machine's clock and under the modelled clock, all else equal.
struct Check {
  const Row* real = nullptr;
  const Row* modelled = nullptr;
};
[[nodiscard]] std::vector<Check> checks(const std::vector<Group>& groups);

}  // namespace fast::compare
