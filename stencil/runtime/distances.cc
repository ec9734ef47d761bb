#include "stencil/runtime/distances.h"

#include <algorithm>

namespace stencil {

BucketSums::BucketSums(std::uint32_t buckets, float value) : values_(buckets) {
  for (std::size_t below = buckets; below > 1;) {
    below = (below + kGroup - 1) / kGroup;
    sums_.emplace_back(below);
  }
  fill(value);
}

void BucketSums::set(std::uint32_t bucket, float value) {
  values_[bucket] = value;
  add_up(bucket / kGroup);
}

void BucketSums::fill(float value) {
  std::ranges::fill(values_, value);
  for (std::size_t group = 0; group * kGroup < values_.size(); ++group) add_up(group);
}

/// Recomputes the sum of `group` of the lowest level and the sums above it.
void BucketSums::add_up(std::size_t group) {
  for (std::size_t level = 0; level < sums_.size(); ++level, group /= kGroup) {
    const std::size_t begin = group * kGroup;
    double sum = 0;
    if (level == 0) {
      const std::size_t end = std::min(begin + kGroup, values_.size());
      for (std::size_t i = begin; i < end; ++i) sum += std::max(values_[i], 0.0F);
    } else {
      const std::vector<double>& below = sums_[level - 1];
      const std::size_t end = std::min(begin + kGroup, below.size());
      for (std::size_t i = begin; i < end; ++i) sum += below[i];
    }
    sums_[level][group] = sum;
  }
}

double BucketSums::sum() const {
  if (sums_.empty()) return values_.empty() ? 0 : std::max(values_[0], 0.0F);
  return sums_.back()[0];
}

}  // namespace stencil
