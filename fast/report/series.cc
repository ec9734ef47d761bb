#include "fast/report/series.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace fast {
namespace {

/// The curve at x; nothing outside it or beside a gap. `from` only ever moves on: x must rise from
/// call to call.
std::optional<double> at(const Series& curve, double x, std::size_t& from) {
  if (curve.empty() || x < curve.front().first || x > curve.back().first) return std::nullopt;
  while (from + 1 < curve.size() && curve[from + 1].first < x) ++from;
  const auto& [x0, y0] = curve[from];
  if (x <= x0 || from + 1 == curve.size()) {
    return std::isfinite(y0) ? std::optional(y0) : std::nullopt;
  }
  const auto& [x1, y1] = curve[from + 1];
  const double y = x < x1 ? y0 + (y1 - y0) * (x - x0) / (x1 - x0) : y1;
  return std::isfinite(y) ? std::optional(y) : std::nullopt;
}

}  // namespace

std::vector<std::size_t> thinned(std::size_t size, std::size_t most) {
  std::vector<std::size_t> kept;
  if (size <= most) {
    for (std::size_t i = 0; i < size; ++i) kept.push_back(i);
    return kept;
  }
  const double step = static_cast<double>(size - 1) / static_cast<double>(most - 1);
  for (std::size_t i = 0; i < most; ++i) {
    kept.push_back(
        std::min(static_cast<std::size_t>(std::llround(step * static_cast<double>(i))), size - 1));
  }
  return kept;
}

Series mean_of(const std::vector<Series>& curves, std::size_t points) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Series& curve : curves) {
    if (curve.empty()) continue;
    low = std::min(low, curve.front().first);
    high = std::max(high, curve.back().first);
  }
  Series mean;
  if (!(low <= high) || points < 2) return mean;
  std::vector<std::size_t> from(curves.size(), 0);
  std::vector<std::size_t> counts;
  for (std::size_t i = 0; i < points; ++i) {
    const double x = low + (high - low) * static_cast<double>(i) / static_cast<double>(points - 1);
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t c = 0; c < curves.size(); ++c) {
      if (const auto y = at(curves[c], x, from[c])) {
        sum += *y;
        ++count;
      }
    }
    if (count > 0) {
      mean.emplace_back(x, sum / static_cast<double>(count));
      counts.push_back(count);
    }
    if (low == high) break;
  }
  const std::size_t most = counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
  Series shared;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    if (2 * counts[i] >= most) shared.push_back(mean[i]);
  }
  return shared;
}

}  // namespace fast
