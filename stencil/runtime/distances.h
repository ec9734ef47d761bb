#pragma once

#include <cstdint>
#include <vector>

namespace stencil {

/// One number for each bucket, and their sum. An update costs O(log buckets). The sum is as exact
/// as one computed from scratch: rounding errors do not accumulate.
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
  std::vector<std::vector<double>> sums_;  ///< each of kGroup values of the level below
};

/// The distance of the neighbour's model from ours, bucket by bucket, as measured by exchanges with
/// it. See Settlement.
struct Distances {
  BucketSums distance2;       ///< per bucket; negative: not measured since the last restart
  std::uint32_t missing = 0;  ///< buckets not measured
};

}  // namespace stencil
