#include "stencil/mix/following.h"

#include <atomic>
#include <cmath>
#include <cstdint>

#include "stencil/core/half_floats.h"
#include "stencil/mix/kernels.h"

namespace stencil {
namespace {

using kernels::Following;

/// Calls work(read, write) with the functions that convert one value of the follower's type, which
/// is not kF32, from and to double.
template <typename Work>
auto in_type(ElementType type, Work work) {
  const auto same = [](double value) { return value; };
  if (type == ElementType::kF64) return work(double{}, same, same);
  const bool bf16 = type == ElementType::kBF16;
  const auto read = [bf16](std::uint16_t bits) -> double {
    return bf16 ? float_from_bf16(bits) : float_from_half(bits);
  };
  const auto write = [bf16](double value) {
    return bf16 ? to_bf16(static_cast<float>(value)) : to_half(static_cast<float>(value));
  };
  return work(std::uint16_t{}, read, write);
}

/// The values from `first` on, in their own type, and the move of x, as kernels take them.
struct Move {
  const Follower& follower;
  double factor;
  std::size_t first;
  const float* before;
  const float* after;
  std::size_t n;

  [[nodiscard]] Following sums() const {
    if (follower.type == ElementType::kF32) {
      const auto* const values = static_cast<const float*>(follower.values) + first;
      return kernels::following(before, after, static_cast<float>(factor), values, n);
    }
    return in_type(follower.type, [&](auto stored, auto read, auto /*write*/) {
      const auto* const values = static_cast<const decltype(stored)*>(follower.values) + first;
      Following sums;
      for (std::size_t i = 0; i < n; ++i) {
        const double value = read(values[i]);
        const double change = factor * (double{after[i]} - before[i]);
        sums.moved += before[i] != after[i] ? 1 : 0;
        sums.values2 += value * value;
        sums.sum2 += (value + change) * (value + change);
      }
      return sums;
    });
  }

  void apply(double scale) const {
    if (follower.type == ElementType::kF32) {
      auto* const values = static_cast<float*>(follower.values) + first;
      kernels::follow(before, after, static_cast<float>(factor), static_cast<float>(scale), values,
                      n);
      return;
    }
    in_type(follower.type, [&](auto stored, auto read, auto write) {
      auto* const values = static_cast<decltype(stored)*>(follower.values) + first;
      for (std::size_t i = 0; i < n; ++i) {
        const double change = factor * (double{after[i]} - before[i]);
        values[i] = write(scale * (read(values[i]) + change));
      }
    });
  }
};

/// The bound of a block whose values are now of this length; see Follower::Block.
double bound_of(Follower::Block& block, const Follower& follower, double length) {
  if (const std::uint64_t steps = follower.step - block.step; steps > 0) {
    const double kept = std::pow(follower.decay, static_cast<double>(steps));
    const double own = kept * block.own + std::abs(length - kept * block.length);
    block.own = static_cast<float>(own);
    block.step = follower.step;
  }
  return std::max(length, double{block.own});
}

}  // namespace

void follow(Follower& follower, double likeness, std::size_t block, std::size_t place,
            const float* before, const float* after, std::size_t n) {
  std::size_t moved = 0;
  const double factor = follower.factor * likeness;
  if (follower.values == nullptr || factor == 0) {
    moved = kernels::differing(before, after, n);
  } else {
    const Move move{follower, factor, place - follower.begin, before, after, n};
    const Following sums = move.sums();
    moved = sums.moved;
    const double next = std::sqrt(sums.sum2);
    if (moved > 0 && std::isfinite(next)) {
      Follower::Block& known = follower.blocks[block];
      const double most = bound_of(known, follower, std::sqrt(sums.values2));
      move.apply(next > most ? most / next : 1);
      known.length = static_cast<float>(std::min(next, most));
    }
  }
  if (moved > 0) std::atomic_ref(follower.moved).fetch_add(moved, std::memory_order_relaxed);
}

}  // namespace stencil
