#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace fast {

/// A curve: points (x, y) with x rising. A NaN as y is a gap.
using Series = std::vector<std::pair<double, double>>;

/// Indices of at most `most` of `size` points, evenly spread, including the first and the last.
/// Requires most >= 2.
[[nodiscard]] std::vector<std::size_t> thinned(std::size_t size, std::size_t most);

/// The mean of curves at `points` places between the least and the greatest x. Each curve is
/// interpolated linearly and counts only between its own ends, so that a worker that died early
/// does not distort the later part. Leaves out places where fewer than half of the largest number
/// of curves count: there the mean would jump to the few that began first or ended last.
[[nodiscard]] Series mean_of(const std::vector<Series>& curves, std::size_t points);

}  // namespace fast
