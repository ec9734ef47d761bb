#pragma once

#include <cstdint>
#include <vector>

namespace stencil {

/// Numbers, one for each bucket, and their sum, kept up to date at a cost that hardly grows with
/// how many there are. The sum is as good as one made anew: rounding does not add up.
class BucketSums {
 public:
  BucketSums() = default;
  BucketSums(std::uint32_t buckets, float value);

  [[nodiscard]] float operator[](std::uint32_t bucket) const { return values_[bucket]; }
  void set(std::uint32_t bucket, float value);
  void fill(float value);
  /// Negative values count as 0.
  [[nodiscard]] double sum() const;

 private:
  void add_up(std::size_t group);
  static constexpr std::size_t kGroup = 32;
  std::vector<float> values_;
  std::vector<std::vector<double>> sums_;  ///< of kGroup of the level below, each
};

/// How far from ours the neighbour's model is, bucket by bucket, as exchanges with it tell. See
/// Settlement.
struct Distances {
  BucketSums distance2;       ///< per bucket; negative: not measured since the last restart
  std::uint32_t missing = 0;  ///< buckets not measured
};

}  // namespace stencil
