// What dlib calls of BLAS and LAPACK, under their names, for its archive (libdlib.a) to be linked
// with: 30 KB, where OpenBLAS linked so takes 25 MB and BLIS 10. They are hidden, so that another
// library of the process, such as LibTorch, goes on to find its own.

#include <cstddef>
#include <utility>

#include "adapters/dlib/models/blas/multiply.h"
#include "fast/errors.h"

namespace {

using fast::blas::Matrix;

/// The enums of the C interface to BLAS.
enum Order : int { kRowMajor = 101, kColumnMajor = 102 };
enum Transpose : int { kNoTranspose = 111 };

Matrix operand(const float* data, int stride, Transpose transpose) {
  return {data, static_cast<std::size_t>(stride), transpose != kNoTranspose};
}

/// The first element of a vector, which a negative step walks from its end.
template <typename T>
T* first(T* vector, int count, int step) {
  return step < 0 ? vector - static_cast<std::ptrdiff_t>(count - 1) * step : vector;
}

[[noreturn]] void refuse() {
  throw fast::AdapterError("dlib is to invert a matrix, and this program has no LAPACK",
                           "link a program of your own with LAPACK instead of fast::dlib_blas");
}

}  // namespace

#pragma GCC visibility push(hidden)
extern "C" {

void cblas_sgemm(Order order, Transpose of_left, Transpose of_right, int rows, int columns,
                 int depth, float alpha, const float* left, int left_stride, const float* right,
                 int right_stride, float beta, float* out, int stride) {
  Matrix a = operand(left, left_stride, of_left), b = operand(right, right_stride, of_right);
  if (order == kColumnMajor) {  // the transpose of all, in row-major order
    std::swap(a, b);
    std::swap(rows, columns);
  }
  fast::blas::multiply(static_cast<std::size_t>(rows), static_cast<std::size_t>(columns),
                       static_cast<std::size_t>(depth), alpha, a, b, beta, out,
                       static_cast<std::size_t>(stride));
}

void cblas_saxpy(int count, float alpha, const float* from, int from_step, float* to, int to_step) {
  if (from_step == 1 && to_step == 1) {
    for (int i = 0; i < count; ++i) to[i] += alpha * from[i];
    return;
  }
  from = first(from, count, from_step);
  to = first(to, count, to_step);
  for (int i = 0; i < count; ++i, from += from_step, to += to_step) *to += alpha * *from;
}

void cblas_sscal(int count, float alpha, float* values, int step) {
  if (step <= 0) return;
  for (int i = 0; i < count; ++i, values += step) *values *= alpha;
}

// Of the inverse of a matrix (dlib::tt::inverse), which no layer computes.
void cblas_strsm() {
  refuse();
}
void sgetrf_() {
  refuse();
}

}  // extern "C"
#pragma GCC visibility pop
