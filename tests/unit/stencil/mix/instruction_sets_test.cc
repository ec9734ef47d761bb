// Every instruction set gives the same bits as the most basic one, and as one float at a time; sums
// over many floats agree to the bound in kernels.h.
#include "tests/support/instruction_sets.h"
#include "tests/support/codec_cases.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "stencil/codec/codec.h"
#include "stencil/core/random.h"
#include "stencil/mix/kernels.h"

namespace stencil {
namespace {

constexpr std::size_t kCounts[] = {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 1024, 3001};
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::uint64_t seed() {
  return static_cast<std::uint64_t>(::testing::UnitTest::GetInstance()->random_seed());
}

/// Values of every magnitude, denormals and zeros of both signs among them.
std::vector<float> wild(std::uint64_t stream, std::size_t count) {
  Random random(Random::derive(seed(), stream));
  std::vector<float> values(count);
  for (float& value : values) {
    const auto bits = static_cast<std::uint32_t>(random.next());
    value = std::bit_cast<float>(bits);
    if (!std::isfinite(value) || random.below(8) == 0) {
      value = static_cast<float>(random.normal());
    } else if (random.below(16) == 0) {
      value = std::bit_cast<float>(bits & 0x807fffff);
    }
  }
  return values;
}

std::vector<float> tame(std::uint64_t stream, std::size_t count) {
  Random random(Random::derive(seed(), stream));
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), 4 * a.size()) == 0);
}

/// The results of every kernel that writes floats on the same arrays, called for `at_once` floats
/// at a time.
struct Results {
  std::vector<std::vector<float>> arrays;
};

Results run_kernels(std::size_t n, std::size_t at_once) {
  const auto a = wild(1, n), b = wild(2, n), c = wild(3, n), d = wild(4, n);
  Results out;
  std::vector<float> u = a, v = b, w = c;
  const auto keep = [&](std::initializer_list<std::vector<float>*> made) {
    for (auto* each : made) out.arrays.push_back(*each);
    u = a, v = b, w = c;
  };
  const auto parts = [&](auto work) {
    for (std::size_t i = 0; i < n; i += at_once) work(i, std::min(at_once, n - i));
  };
  parts([&](std::size_t i, std::size_t m) { (void)kernels::fold(&u[i], &v[i], &w[i], m); });
  keep({&u, &v, &w});
  for (const ElementType type : {ElementType::kF16, ElementType::kBF16}) {
    parts([&](std::size_t i, std::size_t m) { (void)kernels::fold(&u[i], &v[i], &w[i], m, type); });
    keep({&u, &v, &w});
  }
  parts([&](std::size_t i, std::size_t m) { (void)kernels::show(&a[i], &v[i], m); });
  keep({&v});
  parts([&](std::size_t i, std::size_t m) { (void)kernels::sum(&a[i], &b[i], &w[i], m); });
  keep({&w});
  parts([&](std::size_t i, std::size_t m) {
    (void)kernels::difference(&a[i], &b[i], &c[i], 1.0F / 3, &u[i], m);
  });
  keep({&u});
  parts([&](std::size_t i, std::size_t m) {
    (void)kernels::pair_difference(&a[i], &b[i], &c[i], &d[i], 1.0F / 3, &u[i], m);
  });
  keep({&u});
  parts([&](std::size_t i, std::size_t m) { kernels::trade(&a[i], &v[i], &w[i], m); });
  keep({&v, &w});
  parts([&](std::size_t i, std::size_t m) { kernels::add(&a[i], &v[i], m); });
  keep({&v});
  parts([&](std::size_t i, std::size_t m) { (void)kernels::subtract(&a[i], &v[i], m); });
  keep({&v});
  parts([&](std::size_t i, std::size_t m) { (void)kernels::approach(&a[i], &b[i], &w[i], m); });
  keep({&w});
  parts([&](std::size_t i, std::size_t m) { kernels::replace(&a[i], &b[i], &w[i], m); });
  keep({&w});
  parts(
      [&](std::size_t i, std::size_t m) { kernels::publish(&a[i], &b[i], 0.7, &v[i], &w[i], m); });
  keep({&v, &w});
  parts([&](std::size_t i, std::size_t m) { kernels::add_moved(&a[i], &b[i], 0.7F, &w[i], m); });
  keep({&w});
  parts(
      [&](std::size_t i, std::size_t m) { kernels::follow(&a[i], &b[i], -0.7F, 0.9F, &w[i], m); });
  keep({&w});
  parts([&](std::size_t i, std::size_t m) { kernels::absorb(&a[i], 0.3, &w[i], m); });
  keep({&w});
  return out;
}

TEST(InstructionSets, there_is_more_than_one_to_compare) {
  int count = 0;
  test::for_each_instruction_set([&](const char*) { ++count; });
  EXPECT_GT(count, 1) << "nothing is compared on this machine";
}

TEST(InstructionSets, kernels_write_the_same_bits_as_one_float_at_a_time) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  for (const std::size_t n : kCounts) {
    Results plain;
    test::for_each_instruction_set([&](const char* name) {
      if (plain.arrays.empty()) plain = run_kernels(n, 1);
      const Results got = run_kernels(n, std::max<std::size_t>(n, 1));
      ASSERT_EQ(got.arrays.size(), plain.arrays.size());
      for (std::size_t k = 0; k < got.arrays.size(); ++k) {
        ASSERT_TRUE(same_bits(got.arrays[k], plain.arrays[k]))
            << name << " array " << k << " n " << n;
      }
    });
  }
}

TEST(InstructionSets, sums_agree_to_their_bound) {
  for (const std::size_t n : kCounts) {
    const auto a = tame(1, n), b = tame(2, n), c = tame(3, n), e = tame(4, n);
    double distance2 = 0, shared2 = 0, norm2 = 0, apart2 = 0, theirs2 = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double z = b[i] + c[i];
      distance2 += (a[i] - z) * (a[i] - z);
      shared2 += (a[i] + e[i] - z) * (a[i] + e[i] - z);
      norm2 += z * z;
      apart2 += (a[i] - b[i]) * (a[i] - b[i]);
      theirs2 += a[i] * a[i];
    }
    test::for_each_instruction_set([&](const char* name) {
      SCOPED_TRACE(name);
      std::vector<float> d(n);
      const kernels::Sums one =
          kernels::difference(a.data(), b.data(), c.data(), 0.5F, d.data(), n);
      EXPECT_NEAR(one.distance2, distance2, 1e-5 * distance2);
      EXPECT_NEAR(one.norm2, norm2, 1e-5 * norm2);
      const kernels::Sums shared =
          kernels::pair_difference(b.data(), c.data(), a.data(), e.data(), 0.5F, d.data(), n);
      EXPECT_NEAR(shared.distance2, shared2, 1e-5 * shared2);
      EXPECT_NEAR(shared.norm2, norm2, 1e-5 * norm2);
      auto p = c;
      const kernels::Sums two = kernels::approach(a.data(), b.data(), p.data(), n);
      EXPECT_NEAR(two.distance2, apart2, 1e-5 * apart2);
      EXPECT_NEAR(two.norm2, theirs2, 1e-5 * theirs2);
      EXPECT_NEAR(kernels::subtract(a.data(), p.data(), n), theirs2, 1e-5 * theirs2);
    });
  }
}

/// They decide on what a fold writes.
TEST(InstructionSets, sums_of_what_follows_are_the_same_bits) {
  for (const std::size_t n : kCounts) {
    const auto before = tame(1, n), after = tame(2, n), values = tame(3, n);
    double values2 = 0, sum2 = 0;
    for (std::size_t i = 0; i < n; ++i) {
      values2 += double{values[i]} * values[i];
      sum2 += std::pow(values[i] - 2.5 * (double{after[i]} - before[i]), 2);
    }
    std::optional<kernels::Following> first;
    test::for_each_instruction_set([&](const char* name) {
      SCOPED_TRACE(name);
      const kernels::Following sums =
          kernels::following(before.data(), after.data(), -2.5F, values.data(), n);
      if (!first) first = sums;
      EXPECT_EQ(sums.moved, n);
      EXPECT_EQ(sums.values2, first->values2);
      EXPECT_EQ(sums.sum2, first->sum2);
      EXPECT_NEAR(sums.values2, values2, 1e-5 * values2);
      EXPECT_NEAR(sums.sum2, sum2, 1e-5 * sum2);
    });
  }
}

/// Also for the smallest values: a denormal lost at one end would change the mean.
TEST(InstructionSets, what_one_end_gains_in_a_trade_the_other_loses) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  for (const std::size_t n : kCounts) {
    auto y = wild(5, n);
    if (n > 0) y[n / 2] = std::numeric_limits<float>::denorm_min();
    const std::vector<float> zero(n);
    test::for_each_instruction_set([&](const char* name) {
      std::vector<float> d(n), p(n), their_p(n);
      const kernels::Sums sums =
          kernels::pair_difference(zero.data(), zero.data(), y.data(), zero.data(), 1, d.data(), n);
      EXPECT_TRUE(sums.finite) << name << " n " << n;
      ASSERT_EQ(d, y) << name << " n " << n;
      kernels::trade(d.data(), p.data(), their_p.data(), n);
      ASSERT_EQ(p, y) << name << " n " << n;
      for (float& value : their_p) value = -value;
      ASSERT_EQ(their_p, y) << name << " n " << n;
    });
  }
}

TEST(InstructionSets, kernels_find_a_bad_value_anywhere) {
  test::for_each_instruction_set([&](const char* name) {
    SCOPED_TRACE(name);
    for (const float bad : {kNaN, -kNaN, kInfinity, -kInfinity}) {
      for (std::size_t place = 0; place < 37; ++place) {
        std::vector<float> x(37, 1.0F), y(37), p(37, 1.0F);
        EXPECT_TRUE(kernels::fold(x.data(), y.data(), p.data(), 37));
        x[place] = bad;
        EXPECT_FALSE(kernels::finite(x.data(), 37));
        EXPECT_FALSE(kernels::show(x.data(), y.data(), 37));
        EXPECT_FALSE(kernels::sum(x.data(), p.data(), y.data(), 37));
        EXPECT_FALSE(kernels::difference(x.data(), p.data(), p.data(), 0.5F, y.data(), 37).finite);
        for (int which = 0; which < 4; ++which) {
          const float* in[4] = {p.data(), p.data(), p.data(), p.data()};
          in[which] = x.data();
          EXPECT_FALSE(
              kernels::pair_difference(in[0], in[1], in[2], in[3], 0.5F, y.data(), 37).finite);
        }
        const float* both = x.data();  // infinity - infinity
        EXPECT_FALSE(
            kernels::pair_difference(both, p.data(), both, p.data(), 0.5F, y.data(), 37).finite);
        EXPECT_FALSE(kernels::fold(x.data(), y.data(), p.data(), 37)) << bad << " at " << place;
      }
    }
  });
}

TEST(InstructionSets, find_the_same_places) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  for (const std::size_t n : kCounts) {
    const auto values = tame(9, n);
    const std::uint32_t bound = std::bit_cast<std::uint32_t>(0.5F);
    std::vector<std::uint32_t> expected;
    for (std::size_t i = 0; i < n; ++i) {
      if (std::abs(values[i]) >= 0.5F) expected.push_back(7 + static_cast<std::uint32_t>(i));
    }
    test::for_each_instruction_set([&](const char* name) {
      std::vector<std::uint32_t> places(n + 1);
      places.resize(kernels::at_least(values.data(), n, bound, 7, places.data()));
      ASSERT_EQ(places, expected) << name << " n " << n;
    });
  }
}

class CodecSets : public ::testing::TestWithParam<CodecSpec> {};

TEST_P(CodecSets, code_the_same_bits) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  const auto codec = make_codec(GetParam().number);
  for (const std::size_t n : kCounts) {
    for (const auto& values : {wild(7, n), tame(8, n)}) {
      std::vector<std::byte> plain(codec->encoded_size(n));
      std::vector<float> plain_back(n);
      bool first = true;
      test::for_each_instruction_set([&](const char* name) {
        std::vector<std::byte> bytes(plain.size());
        std::vector<float> back(n);
        ASSERT_TRUE(codec->encode(values, bytes)) << name;
        ASSERT_TRUE(codec->decode(bytes, back)) << name;
        if (first) plain = bytes, plain_back = back;
        first = false;
        ASSERT_EQ(bytes, plain) << name << " n " << n;
        ASSERT_TRUE(same_bits(back, plain_back)) << name << " n " << n;
      });
    }
  }
}

TEST_P(CodecSets, refuse_what_is_not_finite_anywhere) {
  const auto codec = make_codec(GetParam().number);
  test::for_each_instruction_set([&](const char* name) {
    SCOPED_TRACE(name);
    for (const float bad : {kNaN, -kNaN, kInfinity, -kInfinity}) {
      for (std::size_t place = 0; place < 101; ++place) {
        std::vector<float> values(101, 1.0F);
        values[place] = bad;
        std::vector<std::byte> bytes(codec->encoded_size(values.size()));
        ASSERT_FALSE(codec->encode(values, bytes)) << bad << " at " << place;
      }
    }
  });
}

TEST_P(CodecSets, read_any_bytes_alike) {
  const auto codec = make_codec(GetParam().number);
  Random random(seed());
  for (int round = 0; round < 500; ++round) {
    const std::size_t n = random.below(200);
    std::vector<std::byte> bytes(codec->encoded_size(n));
    for (auto& byte : bytes) byte = static_cast<std::byte>(random.below(255));
    std::vector<float> plain(n);
    bool verdict = false, first = true;
    test::for_each_instruction_set([&](const char* name) {
      std::vector<float> back(n);
      const bool good = codec->decode(bytes, back);
      if (first) verdict = good, plain = back;
      first = false;
      ASSERT_EQ(good, verdict) << name;
      if (good) {
        ASSERT_TRUE(same_bits(back, plain)) << name;
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Codecs, CodecSets, ::testing::ValuesIn(test::dense_codecs()),
                         [](const auto& info) { return test::codec_name(info.param); });

}  // namespace
}  // namespace stencil
