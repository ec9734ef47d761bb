#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "stencil/codec/top_k.h"
#include "stencil/core/payload.h"
#include "stencil/core/random.h"

// Common parts of the tests of codec topk.
namespace stencil::test {

inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kDenormal = std::numeric_limits<float>::denorm_min();

inline std::uint64_t seed() {
  return static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed());
}

/// Noise that is equal for equal indices within one run of the test.
inline std::vector<float> noise(std::uint64_t index, std::size_t size) {
  Random random(Random::derive(seed(), index));
  std::vector<float> values(size);
  for (float& v : values) v = static_cast<float>(random.normal());
  return values;
}

using Indices = std::vector<std::uint32_t>;

inline Indices indices(const Part& part) {
  Indices all;
  part.for_each([&](std::size_t, std::uint32_t i, float) { all.push_back(i); });
  return all;
}

/// An offer of a bucket of `floats` values that shows these indices, all with one value.
inline Bytes written(std::size_t floats, std::uint32_t turn, const Indices& indices,
                     float value = 1) {
  const std::size_t k = indices.size();
  Bytes bytes(TopK::kHead + Places{floats, k}.bytes() + 4 * k);
  PartWriter writer(bytes, turn, floats, k);
  for (const std::uint32_t i : indices) writer.add(i, value);
  return bytes;
}

}  // namespace stencil::test
