#pragma once

#include <cstddef>

namespace fast::blas {

/// A matrix in row-major order as it lies in memory: element (i, j) of what it stands for is
/// data[i * stride + j], or, where `transposed`, data[j * stride + i].
struct Matrix {
  const float* data = nullptr;
  std::size_t stride = 0;
  bool transposed = false;
};

/// out = alpha * left * right + beta * out, where `left` is rows x depth, `right` depth x columns
/// and `out` rows x columns, row-major with `stride`. Where beta is 0, `out` is not read. Takes a
/// third of a megabyte of stack and no other memory. Any thread.
///
/// The algorithm is that of Goto and van de Geijn 2008, "Anatomy of high-performance matrix
/// multiplication": blocks that fit the caches are packed in the order in which a kernel, which
/// keeps a tile of `out` in registers, reads them.
void multiply(std::size_t rows, std::size_t columns, std::size_t depth, float alpha,
              const Matrix& left, const Matrix& right, float beta, float* out, std::size_t stride);

}  // namespace fast::blas
