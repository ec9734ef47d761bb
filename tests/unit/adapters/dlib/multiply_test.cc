// The matrix multiplication of dlib's models, in every instruction set of this processor.
#include "adapters/dlib/models/blas/multiply.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "fast/errors.h"
#include "stencil/core/random.h"
#include "tests/support/instruction_sets.h"

extern "C" {
void cblas_sgemm(int order, int of_left, int of_right, int rows, int columns, int depth,
                 float alpha, const float* left, int left_stride, const float* right,
                 int right_stride, float beta, float* out, int stride);
void cblas_saxpy(int count, float alpha, const float* from, int from_step, float* to, int to_step);
void cblas_sscal(int count, float alpha, float* values, int step);
void sgetrf_();
}

namespace fast::blas {
namespace {

struct Case {
  std::size_t rows, columns, depth;
  bool left_transposed, right_transposed;
  float alpha, beta;
};

std::vector<float> numbers(stencil::Random& random, std::size_t count) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

void expect_right(const Case& c, stencil::Random& random) {
  constexpr std::size_t kMore = 3;  // strides are longer than lines
  const std::size_t left_stride = (c.left_transposed ? c.rows : c.depth) + kMore;
  const std::size_t right_stride = (c.right_transposed ? c.depth : c.columns) + kMore;
  const std::size_t stride = c.columns + kMore;
  const auto left = numbers(random, left_stride * (c.left_transposed ? c.depth : c.rows));
  const auto right = numbers(random, right_stride * (c.right_transposed ? c.columns : c.depth));
  auto out = numbers(random, stride * c.rows);
  const auto before = out;
  multiply(c.rows, c.columns, c.depth, c.alpha, {left.data(), left_stride, c.left_transposed},
           {right.data(), right_stride, c.right_transposed}, c.beta, out.data(), stride);
  for (std::size_t i = 0; i < c.rows; ++i) {
    for (std::size_t j = 0; j < stride; ++j) {
      const float was = before[i * stride + j];
      double sum = was, sizes = 1;
      if (j < c.columns) {
        sum *= c.beta;
        for (std::size_t k = 0; k < c.depth; ++k) {
          const double term =
              c.alpha *
              static_cast<double>(
                  left[c.left_transposed ? k * left_stride + i : i * left_stride + k]) *
              right[c.right_transposed ? j * right_stride + k : k * right_stride + j];
          sum += term;
          sizes += std::abs(term);
        }
      }
      ASSERT_NEAR(out[i * stride + j], sum, 1e-6 * sizes)
          << c.rows << "x" << c.columns << "x" << c.depth << " at " << i << ", " << j;
    }
  }
}

TEST(Multiply, AgreesWithTheDefinitionForAnyShapeAndLayout) {
  const int seed = ::testing::UnitTest::GetInstance()->random_seed();
  RecordProperty("seed", seed);
  stencil::test::for_each_instruction_set([&](const char* name) {
    SCOPED_TRACE(name);
    stencil::Random random(static_cast<std::uint64_t>(seed));
    std::vector<Case> cases = {{1, 1, 1, false, false, 1, 0},   {8, 48, 16, false, false, 1, 1},
                               {97, 193, 5, true, false, 2, 0}, {3, 200, 257, false, true, 1, -1},
                               {16, 9, 300, true, true, 0, 2},  {5, 7, 0, false, false, 1, 0.5F}};
    for (int i = 0; i < 30; ++i) {
      const auto side = [&] { return static_cast<std::size_t>(1 + random.below(60)); };
      cases.push_back({side(), side(), side(), random.below(2) == 1, random.below(2) == 1, 1.5F,
                       static_cast<float>(random.below(3)) / 2});
    }
    for (const Case& c : cases) expect_right(c, random);
  });
}

TEST(Multiply, WhatIsOverwrittenIsNotRead) {
  const std::vector<float> ones(30, 1);
  std::vector<float> out(36, std::numeric_limits<float>::quiet_NaN());
  multiply(6, 6, 5, 1, {ones.data(), 5, false}, {ones.data(), 6, false}, 0, out.data(), 6);
  EXPECT_EQ(out, std::vector<float>(36, 5));
}

TEST(Cblas, HasBothOrders) {
  const std::vector<float> left = {1, 2, 3, 4, 5, 6}, right = {1, 0, 2, 1, 0, 3};
  std::vector<float> by_rows(4), by_columns(4);
  cblas_sgemm(101, 111, 111, 2, 2, 3, 1, left.data(), 3, right.data(), 2, 0, by_rows.data(), 2);
  EXPECT_EQ(by_rows, (std::vector<float>{5, 11, 14, 23}));
  // The same memory read by columns: the transposes.
  cblas_sgemm(102, 112, 112, 2, 2, 3, 1, left.data(), 3, right.data(), 2, 0, by_columns.data(), 2);
  EXPECT_EQ(by_columns, (std::vector<float>{5, 14, 11, 23}));
}

TEST(Cblas, WalksVectorsInStepsOfEitherSign) {
  const std::vector<float> from = {1, 2, 3, 4};
  std::vector<float> to = {0, 0, 0, 0};
  cblas_saxpy(2, 2, from.data(), 2, to.data(), -3);
  EXPECT_EQ(to, (std::vector<float>{6, 0, 0, 2}));
  cblas_saxpy(4, 1, from.data(), 1, to.data(), 1);
  EXPECT_EQ(to, (std::vector<float>{7, 2, 3, 6}));
  cblas_sscal(2, 10, to.data(), 3);
  EXPECT_EQ(to, (std::vector<float>{70, 2, 3, 60}));
}

TEST(Cblas, AnInverseIsRefused) {
  EXPECT_THROW(sgetrf_(), AdapterError);
}

}  // namespace
}  // namespace fast::blas
