#include "stencil/mix/telemetry.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

namespace stencil {
namespace {

TEST(TelemetryRules, one_bad_scalar_stops_none_of_the_others) {
  std::vector<double> y = {1, 2, 3}, p(3);
  const std::vector<double> most(3, std::numeric_limits<double>::infinity());
  std::vector<double> theirs = {3, std::nan(""), 7};
  std::vector<std::byte> d(24);
  EXPECT_EQ(telemetry::answer({y, p, most}, std::as_bytes(std::span(theirs)), 2, d), 0U);
  EXPECT_EQ(p, (std::vector<double>{1, 0, 2}));
  std::vector<double> asker(3);
  EXPECT_EQ(telemetry::complete({y, asker, most}, d), 0U);
  EXPECT_EQ(asker, (std::vector<double>{-1, 0, -2}));
  std::vector<double> merged(3);
  EXPECT_EQ(telemetry::merge({y, merged, most}, std::as_bytes(std::span(y)),
                             std::as_bytes(std::span(theirs))),
            0U);
  EXPECT_EQ(merged, (std::vector<double>{1, 0, 2}));
  std::vector<double> adopted(3);
  EXPECT_EQ(telemetry::adopt({y, adopted, most}, std::as_bytes(std::span(theirs))), 0U);
  EXPECT_EQ(adopted, (std::vector<double>{2, 0, 4}));
  std::vector<double> absorbed(3);
  EXPECT_EQ(telemetry::absorb({y, absorbed, most}, std::as_bytes(std::span(theirs)), 0.5), 0U);
  EXPECT_EQ(absorbed, (std::vector<double>{1.5, 0, 3.5}));
  std::vector<double> x = y;
  telemetry::fold(x, y, p);
  EXPECT_EQ(x, (std::vector<double>{2, 2, 5}));
  EXPECT_EQ(y, x);
  EXPECT_EQ(p, (std::vector<double>{0, 0, 0}));
}

/// Scalars of which the first may come to 10, and the second to anything.
struct BoundTelemetry : testing::Test {
  static std::span<const std::byte> bytes(const std::vector<double>& values) {
    return std::as_bytes(std::span(values));
  }
  std::vector<double> y = {4, 4}, p = {0, 0}, most = {10, std::numeric_limits<double>::infinity()};
  telemetry::Scalars ours{y, p, most};
};

TEST_F(BoundTelemetry, what_would_bring_a_scalar_beyond_its_bound_is_left_out_and_counted) {
  std::vector<std::byte> d(16);
  for (const double sign : {1.0, -1.0}) {
    const std::vector<double> theirs = {sign * 1e300, sign * 1e300};
    EXPECT_EQ(telemetry::answer(ours, bytes(theirs), 2, d), 1U);
    EXPECT_EQ(p, (std::vector<double>{0, sign * 5e299}));
    double told;
    std::memcpy(&told, d.data(), sizeof told);
    EXPECT_EQ(told, 0) << "the other end keeps its own, too";
    EXPECT_EQ(telemetry::complete(ours, bytes({sign * -1e300, sign * 5e299})), 1U);
    EXPECT_EQ(p, (std::vector<double>{0, 0}));
    EXPECT_EQ(telemetry::merge(ours, bytes(y), bytes(theirs)), 1U);
    EXPECT_EQ(p, (std::vector<double>{0, sign * 5e299}));
    EXPECT_EQ(telemetry::adopt(ours, bytes(theirs)), 1U);
    EXPECT_EQ(p, (std::vector<double>{0, sign * 1e300}));
    p = {2, 2};
    EXPECT_EQ(telemetry::absorb(ours, bytes(theirs), 0.5), 1U);
    EXPECT_EQ(p, (std::vector<double>{4, sign * 5e299})) << "half of its own";
    p = {0, 0};
  }
}

TEST_F(BoundTelemetry, small_moves_do_not_add_up_beyond_the_bound) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(telemetry::complete(ours, bytes({-2, 0})), 0U);
  EXPECT_EQ(telemetry::complete(ours, bytes({-2, 0})), 1U);
  EXPECT_EQ(p[0], 6);
}

TEST_F(BoundTelemetry, who_is_beyond_the_bound_may_come_back) {
  y[0] = 50;
  std::vector<std::byte> d(16);
  EXPECT_EQ(telemetry::answer(ours, bytes({60, 4}), 2, d), 1U);
  EXPECT_EQ(telemetry::answer(ours, bytes({30, 4}), 2, d), 0U);
  EXPECT_EQ(p[0], -10);
}

}  // namespace
}  // namespace stencil
