#include "adapters/dlib/models/blas/multiply.h"

#include <algorithm>

// Compiled once for each instruction set; the best that the processor has is chosen when called.
// Vectors whose size the compiler does not know cannot be kept in arrays.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "adapters/dlib/models/blas/multiply.cc"
#include <hwy/foreach_target.h>  // must come before highway.h

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace fast::blas {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Floats>;

// A tile of `out` that the kernel keeps in registers: 24 of 32, or 12 of 16.
constexpr bool kManyRegisters = HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON;
constexpr std::size_t kLanes = hn::MaxLanes(Floats());
constexpr std::size_t kVectors = 3;
constexpr std::size_t kTileRows = kManyRegisters ? 8 : 4;
constexpr std::size_t kTileColumns = kVectors * kLanes;

// Blocks: of `left` 96 KiB, of `right` 192 KiB. Multiples of every tile's size.
constexpr std::size_t kRows = 96, kColumns = 192, kDepth = 256;
static_assert(kRows % kTileRows == 0 && kColumns % kTileColumns == 0);

float at(const Matrix& matrix, std::size_t row, std::size_t column) {
  return matrix.transposed ? matrix.data[column * matrix.stride + row]
                           : matrix.data[row * matrix.stride + column];
}

/// Packs lines [first, first + count) of `matrix`, its rows or, where `of_columns`, its columns,
/// `width` at a time, element by element; the lines that the last pack lacks are zero.
template <std::size_t width, bool of_columns>
void pack(const Matrix& matrix, std::size_t first, std::size_t count, std::size_t begin,
          std::size_t depth, float* HWY_RESTRICT out) {
  const bool end_to_end = matrix.transposed != of_columns;  // neighbouring lines are neighbours
  for (std::size_t line = 0; line < count; line += width, out += width * depth) {
    const std::size_t lines = std::min(width, count - line);
    if (lines < width) std::fill_n(out, width * depth, 0.0F);
    const float* const from = matrix.data + (end_to_end ? begin * matrix.stride + first + line
                                                        : (first + line) * matrix.stride + begin);
    if (end_to_end && lines == width) {
      for (std::size_t k = 0; k < depth; ++k) {
        for (std::size_t i = 0; i < width; ++i) out[k * width + i] = from[k * matrix.stride + i];
      }
      continue;
    }
    const std::size_t by_line = end_to_end ? 1 : matrix.stride;
    const std::size_t by_element = end_to_end ? matrix.stride : 1;
    for (std::size_t i = 0; i < lines; ++i) {
      for (std::size_t k = 0; k < depth; ++k) {
        out[k * width + i] = from[i * by_line + k * by_element];
      }
    }
  }
}

/// How a product enters `out`.
struct Scale {
  float alpha, beta;
};

/// Adds to `rows` x `columns` of a tile the product of two packs of `depth`.
void tile(std::size_t depth, const float* HWY_RESTRICT left, const float* HWY_RESTRICT right,
          const Scale& scale, std::size_t rows, std::size_t columns, float* HWY_RESTRICT out,
          std::size_t stride) {
  const Floats tag;
  Vector sums[kTileRows][kVectors];
  for (auto& row : sums) {
    for (Vector& sum : row) sum = hn::Zero(tag);
  }
  for (std::size_t k = 0; k < depth; ++k, left += kTileRows, right += kTileColumns) {
    Vector factors[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) factors[v] = hn::Load(tag, right + v * kLanes);
    for (std::size_t r = 0; r < kTileRows; ++r) {
      const Vector factor = hn::Set(tag, left[r]);
      for (std::size_t v = 0; v < kVectors; ++v) {
        sums[r][v] = hn::MulAdd(factor, factors[v], sums[r][v]);
      }
    }
  }
  const Vector alpha = hn::Set(tag, scale.alpha), beta = hn::Set(tag, scale.beta);
  if (rows == kTileRows && columns == kTileColumns) {
    for (std::size_t r = 0; r < kTileRows; ++r) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        float* const place = out + r * stride + v * kLanes;
        Vector sum = hn::Mul(alpha, sums[r][v]);
        if (scale.beta != 0) sum = hn::MulAdd(beta, hn::LoadU(tag, place), sum);
        hn::StoreU(sum, tag, place);
      }
    }
    return;
  }
  alignas(64) float part[kTileRows * kTileColumns];
  for (std::size_t r = 0; r < kTileRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      hn::Store(hn::Mul(alpha, sums[r][v]), tag, part + r * kTileColumns + v * kLanes);
    }
  }
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      const float sum = part[r * kTileColumns + c];
      float& place = out[r * stride + c];
      place = scale.beta == 0 ? sum : scale.beta * place + sum;
    }
  }
}

void multiply(std::size_t rows, std::size_t columns, std::size_t depth, float alpha,
              const Matrix& left, const Matrix& right, float beta, float* out, std::size_t stride) {
  alignas(64) float lefts[kRows * kDepth];
  alignas(64) float rights[kColumns * kDepth];
  for (std::size_t c = 0; c < columns; c += kColumns) {
    const std::size_t wide = std::min(kColumns, columns - c);
    for (std::size_t k = 0; k < depth; k += kDepth) {
      const std::size_t deep = std::min(kDepth, depth - k);
      const Scale scale{alpha, k == 0 ? beta : 1};
      pack<kTileColumns, true>(right, c, wide, k, deep, rights);
      for (std::size_t r = 0; r < rows; r += kRows) {
        const std::size_t high = std::min(kRows, rows - r);
        pack<kTileRows, false>(left, r, high, k, deep, lefts);
        for (std::size_t j = 0; j < wide; j += kTileColumns) {
          for (std::size_t i = 0; i < high; i += kTileRows) {
            tile(deep, lefts + i * deep, rights + j * deep, scale, std::min(kTileRows, high - i),
                 std::min(kTileColumns, wide - j), out + (r + i) * stride + c + j, stride);
          }
        }
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace fast::blas
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fast::blas {

HWY_EXPORT(multiply);

void multiply(std::size_t rows, std::size_t columns, std::size_t depth, float alpha,
              const Matrix& left, const Matrix& right, float beta, float* out, std::size_t stride) {
  if (depth == 0 || alpha == 0) {
    for (std::size_t r = 0; r < rows; ++r) {
      float* const row = out + r * stride;
      std::transform(row, row + columns, row, [&](float v) { return beta == 0 ? 0 : beta * v; });
    }
    return;
  }
  HWY_DYNAMIC_DISPATCH(multiply)
  (rows, columns, depth, alpha, left, right, beta, out, stride);
}

}  // namespace fast::blas
#endif
