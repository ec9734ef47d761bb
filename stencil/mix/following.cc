#include "stencil/mix/following.h"

#include <atomic>
#include <cstdint>

#include "stencil/core/half_floats.h"
#include "stencil/mix/kernels.h"

namespace stencil {
namespace {

/// Of values that are no floats: `read` and `write` convert one.
template <typename Stored, typename Read, typename Write>
std::size_t follow_as(Stored* values, double factor, const float* before, const float* after,
                      std::size_t n, Read read, Write write) {
  std::size_t moved = 0;
  for (std::size_t i = 0; i < n; ++i) {
    moved += before[i] != after[i] ? 1 : 0;
    values[i] = write(read(values[i]) + factor * (double{after[i]} - before[i]));
  }
  return moved;
}

}  // namespace

void follow(Follower& follower, std::size_t place, const float* before, const float* after,
            std::size_t n) {
  const std::size_t first = place - follower.begin;
  const double factor = follower.factor;
  std::size_t moved = 0;
  if (follower.values == nullptr || factor == 0) {
    moved = kernels::differing(before, after, n);
  } else if (follower.type == ElementType::kF32) {
    float* const values = static_cast<float*>(follower.values) + first;
    moved = kernels::follow(before, after, static_cast<float>(factor), values, n);
  } else if (follower.type == ElementType::kF64) {
    const auto same = [](double value) { return value; };
    double* const values = static_cast<double*>(follower.values) + first;
    moved = follow_as(values, factor, before, after, n, same, same);
  } else {
    const bool bf16 = follower.type == ElementType::kBF16;
    auto* const values = static_cast<std::uint16_t*>(follower.values) + first;
    const auto read = [bf16](std::uint16_t bits) {
      return bf16 ? float_from_bf16(bits) : float_from_half(bits);
    };
    const auto write = [bf16](double value) {
      return bf16 ? to_bf16(static_cast<float>(value)) : to_half(static_cast<float>(value));
    };
    moved = follow_as(values, factor, before, after, n, read, write);
  }
  if (moved > 0) std::atomic_ref(follower.moved).fetch_add(moved, std::memory_order_relaxed);
}

}  // namespace stencil
