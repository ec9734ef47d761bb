#include "stencil/mix/kernels.h"

#include <bit>

#include "stencil/core/half_floats.h"

// This file is compiled once for each instruction set. Its loops are plain, so that the compiler
// vectorises them in the width of that set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/mix/kernels.cc"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stencil::kernels {
namespace HWY_NAMESPACE {

bool fold(float* __restrict x, float* __restrict y, float* __restrict p, std::size_t n) {
  // 0 * v is 0 for a finite v and NaN otherwise, so one sum checks all values.
  float poison = 0;
#pragma omp simd reduction(+ : poison)
  for (std::size_t i = 0; i < n; ++i) {
    const float folded = x[i] + p[i];
    x[i] = folded;
    y[i] = folded;
    p[i] = 0;
    poison += 0.0F * folded;
  }
  return poison == 0.0F;
}

template <typename Round>
bool fold_rounded_by(Round round, float* __restrict x, float* __restrict y, float* __restrict p,
                     std::size_t n) {
  std::uint32_t marks = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const float sum = x[i] + p[i];
    const auto bits = std::bit_cast<std::uint32_t>(sum);
    const std::uint32_t mark = non_finite_mark(bits);
    const float nearest = round(sum);
    const float rest = sum - nearest;
    const bool finite = all_finite(mark);
    const float folded =
        std::bit_cast<float>(select(finite, std::bit_cast<std::uint32_t>(nearest), bits));
    x[i] = folded;
    y[i] = folded;
    p[i] = std::bit_cast<float>(select(finite, std::bit_cast<std::uint32_t>(rest), 0));
    marks |= mark;
  }
  return all_finite(marks);
}

bool fold_bf16(float* __restrict x, float* __restrict y, float* __restrict p, std::size_t n) {
  const auto round = [](float value) {
    return float_from_bf16(bf16_from_bits(std::bit_cast<std::uint32_t>(value)));
  };
  return fold_rounded_by(round, x, y, p, n);
}

bool fold_f16(float* __restrict x, float* __restrict y, float* __restrict p, std::size_t n) {
  const auto round = [](float value) { return float_from_half(half_from_float(value)); };
  return fold_rounded_by(round, x, y, p, n);
}

bool show(const float* __restrict x, float* __restrict y, std::size_t n) {
  float poison = 0;
#pragma omp simd reduction(+ : poison)
  for (std::size_t i = 0; i < n; ++i) {
    y[i] = x[i];
    poison += 0.0F * x[i];
  }
  return poison == 0.0F;
}

bool finite(const float* __restrict values, std::size_t n) {
  float poison = 0;
#pragma omp simd reduction(+ : poison)
  for (std::size_t i = 0; i < n; ++i) poison += 0.0F * values[i];
  return poison == 0.0F;
}

bool sum(const float* __restrict y, const float* __restrict p, float* __restrict z, std::size_t n) {
  float poison = 0;
#pragma omp simd reduction(+ : poison)
  for (std::size_t i = 0; i < n; ++i) {
    const float total = y[i] + p[i];
    z[i] = total;
    poison += 0.0F * total;
  }
  return poison == 0.0F;
}

Sums difference(const float* __restrict theirs, const float* __restrict y,
                const float* __restrict p, float beta, float* __restrict d, std::size_t n) {
  float poison = 0;
  float distance2 = 0;
  float norm2 = 0;
#pragma omp simd reduction(+ : poison, distance2, norm2)
  for (std::size_t i = 0; i < n; ++i) {
    const float z = y[i] + p[i];
    const float difference = theirs[i] - z;
    d[i] = beta * difference;
    poison += 0.0F * difference;
    distance2 += difference * difference;
    norm2 += z * z;
  }
  return {poison == 0.0F, distance2, norm2};
}

Sums pair_difference(const float* __restrict y, const float* __restrict p,
                     const float* __restrict their_y, const float* __restrict their_p, float beta,
                     float* __restrict d, std::size_t n) {
  float poison = 0;
  float distance2 = 0;
  float norm2 = 0;
#pragma omp simd reduction(+ : poison, distance2, norm2)
  for (std::size_t i = 0; i < n; ++i) {
    const float z = y[i] + p[i];
    const float difference = (their_y[i] + their_p[i]) - z;
    d[i] = beta * difference;
    poison += 0.0F * difference;
    distance2 += difference * difference;
    norm2 += z * z;
  }
  return {poison == 0.0F, distance2, norm2};
}

void trade(const float* __restrict d, float* __restrict p, float* __restrict their_p,
           std::size_t n) {
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) {
    p[i] += d[i];
    their_p[i] -= d[i];
  }
}

std::size_t at_least(const float* __restrict values, std::size_t n, std::uint32_t bound,
                     std::uint32_t first, std::uint32_t* __restrict places) {
  namespace hn = hwy::HWY_NAMESPACE;
  // Signed integers: magnitudes never set the sign bit, and most processors compare only signed
  // ones.
  const hn::CappedTag<std::int32_t, 64> d;
  const hn::RebindToFloat<decltype(d)> f;
  const auto magnitude = hn::Set(d, 0x7fffffff);
  const auto below = hn::Set(d, static_cast<std::int32_t>(bound) - 1);
  std::size_t count = 0;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    const auto bits = hn::BitCast(d, hn::LoadU(f, values + i));
    const auto found = hn::Gt(hn::And(bits, magnitude), below);
    if (hn::AllFalse(d, found)) continue;
    std::uint8_t lanes[8] = {};
    (void)hn::StoreMaskBits(d, found, lanes);
    for (std::uint32_t lane = 0; lane < hn::Lanes(d); ++lane) {
      places[count] = first + static_cast<std::uint32_t>(i) + lane;
      count += (lanes[lane / 8] >> (lane % 8)) & 1;
    }
  }
  for (; i < n; ++i) {
    if ((std::bit_cast<std::uint32_t>(values[i]) & 0x7fffffffU) < bound) continue;
    places[count++] = first + static_cast<std::uint32_t>(i);
  }
  return count;
}

void add(const float* __restrict d, float* __restrict p, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) p[i] += d[i];
}

float subtract(const float* __restrict d, float* __restrict p, std::size_t n) {
  float norm2 = 0;
#pragma omp simd reduction(+ : norm2)
  for (std::size_t i = 0; i < n; ++i) {
    p[i] -= d[i];
    norm2 += d[i] * d[i];
  }
  return norm2;
}

Sums approach(const float* __restrict ours, const float* __restrict theirs, float* __restrict p,
              std::size_t n) {
  float distance2 = 0;
  float norm2 = 0;
#pragma omp simd reduction(+ : distance2, norm2)
  for (std::size_t i = 0; i < n; ++i) {
    const float difference = theirs[i] - ours[i];
    p[i] += 0.5F * difference;
    distance2 += difference * difference;
    norm2 += ours[i] * ours[i];
  }
  return {true, distance2, norm2};
}

void replace(const float* __restrict theirs, const float* __restrict y, float* __restrict p,
             std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) p[i] = theirs[i] - y[i];
}

// Sums go by lanes of this file's own, as many as fill the widest vector, so that their order is
// the same in vectors of any width. Counts are of 32 bits, so that they take lanes as wide.
constexpr std::size_t kLanes = 16;

Following following(const float* __restrict before, const float* __restrict after, float factor,
                    const float* __restrict values, std::size_t n) {
  float values2[kLanes] = {}, sum2[kLanes] = {};
  std::uint32_t moved[kLanes] = {};
  const auto add = [&](std::size_t i, std::size_t lane) {
    const float sum = values[i] + factor * (after[i] - before[i]);
    values2[lane] += values[i] * values[i];
    sum2[lane] += sum * sum;
    moved[lane] += after[i] != before[i] ? 1 : 0;
  };
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) add(i + lane, lane);
  }
  for (std::size_t lane = 0; i < n; ++i, ++lane) add(i, lane);
  Following sums;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    sums.moved += moved[lane];
    sums.values2 += values2[lane];
    sums.sum2 += sum2[lane];
  }
  return sums;
}

void follow(const float* __restrict before, const float* __restrict after, float factor,
            float scale, float* __restrict values, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = scale * (values[i] + factor * (after[i] - before[i]));
  }
}

void add_moved(const float* __restrict before, const float* __restrict after, float share,
               float* __restrict sum, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) sum[i] += share * (after[i] - before[i]);
}

// Counts are of 32 bits within a loop, so that they take lanes as wide as the floats'.
std::size_t differing(const float* __restrict a, const float* __restrict b, std::size_t n) {
  std::uint32_t count = 0;
#pragma omp simd reduction(+ : count)
  for (std::size_t i = 0; i < n; ++i) count += a[i] != b[i] ? 1 : 0;
  return count;
}

void publish(const float* __restrict x, const float* __restrict sent, double weight,
             float* __restrict y, float* __restrict p, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    y[i] = x[i];
    p[i] = static_cast<float>(x[i] - weight * sent[i]);
  }
}

void absorb(const float* __restrict theirs, double weight, float* __restrict p, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) p[i] = static_cast<float>(p[i] + weight * theirs[i]);
}

}  // namespace HWY_NAMESPACE
}  // namespace stencil::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace stencil::kernels {

HWY_EXPORT(fold);
HWY_EXPORT(fold_bf16);
HWY_EXPORT(fold_f16);
HWY_EXPORT(show);
HWY_EXPORT(finite);
HWY_EXPORT(sum);
HWY_EXPORT(difference);
HWY_EXPORT(pair_difference);
HWY_EXPORT(trade);
HWY_EXPORT(at_least);
HWY_EXPORT(add);
HWY_EXPORT(subtract);
HWY_EXPORT(approach);
HWY_EXPORT(replace);
HWY_EXPORT(following);
HWY_EXPORT(follow);
HWY_EXPORT(add_moved);
HWY_EXPORT(differing);
HWY_EXPORT(publish);
HWY_EXPORT(absorb);

bool fold(float* x, float* y, float* p, std::size_t n, ElementType type) {
  if (type == ElementType::kBF16) return HWY_DYNAMIC_DISPATCH(fold_bf16)(x, y, p, n);
  if (type == ElementType::kF16) return HWY_DYNAMIC_DISPATCH(fold_f16)(x, y, p, n);
  return HWY_DYNAMIC_DISPATCH(fold)(x, y, p, n);
}
bool show(const float* x, float* y, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(show)(x, y, n);
}
bool finite(const float* values, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(finite)(values, n);
}
bool sum(const float* y, const float* p, float* z, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(sum)(y, p, z, n);
}
Sums difference(const float* theirs, const float* y, const float* p, float beta, float* d,
                std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(difference)(theirs, y, p, beta, d, n);
}
Sums pair_difference(const float* y, const float* p, const float* their_y, const float* their_p,
                     float beta, float* d, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(pair_difference)(y, p, their_y, their_p, beta, d, n);
}
void trade(const float* d, float* p, float* their_p, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(trade)(d, p, their_p, n);
}
std::size_t at_least(const float* values, std::size_t n, std::uint32_t bound, std::uint32_t first,
                     std::uint32_t* places) {
  return HWY_DYNAMIC_DISPATCH(at_least)(values, n, bound, first, places);
}
void add(const float* d, float* p, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(add)(d, p, n);
}
float subtract(const float* d, float* p, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(subtract)(d, p, n);
}
Sums approach(const float* ours, const float* theirs, float* p, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(approach)(ours, theirs, p, n);
}
void replace(const float* theirs, const float* y, float* p, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(replace)(theirs, y, p, n);
}
Following following(const float* before, const float* after, float factor, const float* values,
                    std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(following)(before, after, factor, values, n);
}
void follow(const float* before, const float* after, float factor, float scale, float* values,
            std::size_t n) {
  HWY_DYNAMIC_DISPATCH(follow)(before, after, factor, scale, values, n);
}
void add_moved(const float* before, const float* after, float share, float* sum, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(add_moved)(before, after, share, sum, n);
}
std::size_t differing(const float* a, const float* b, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(differing)(a, b, n);
}
void publish(const float* x, const float* sent, double weight, float* y, float* p, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(publish)(x, sent, weight, y, p, n);
}
void absorb(const float* theirs, double weight, float* p, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(absorb)(theirs, weight, p, n);
}

}  // namespace stencil::kernels

#endif  // HWY_ONCE
