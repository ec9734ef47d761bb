#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace fast {

/// A curve: (x, y) with x rising. y may be NaN, which is a gap.
using Series = std::vector<std::pair<double, double>>;

/// Which of `size` points to draw so that at most `most` are: evenly spread, first and last always
/// among them. Requires most >= 2.
[[nodiscard]] std::vector<std::size_t> thinned(std::size_t size, std::size_t most);

/// Mean over curves at `points` places between the least and the greatest x, each interpolated
/// linearly and counted between its own ends alone, so that a worker that died early does not pull
/// on what came later. Places at which fewer than half as many curves count as elsewhere are left
/// out: there the mean would jump to the few that began first or ended last.
[[nodiscard]] Series mean_of(const std::vector<Series>& curves, std::size_t points);

}  // namespace fast
