#include "fast/train/parameter_patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fast/errors.h"

namespace fast {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

TEST(ParameterPatterns, AreAListOfShellPatternsWhoseStarTakesDots) {
  EXPECT_THAT(patterns_in("", "--freeze"), IsEmpty());
  EXPECT_THAT(patterns_in("a.*,b", "--freeze"), ElementsAre("a.*", "b"));
  EXPECT_TRUE(fits("blocks.*.bias", "blocks.0.attention.bias"));
  EXPECT_TRUE(fits("fc.weight", "fc.weight"));
  EXPECT_FALSE(fits("fc", "fc.weight"));
  EXPECT_TRUE(fits("blocks.[01].*", "blocks.1.norm1.weight"));
  EXPECT_FALSE(fits("blocks.[01].*", "blocks.2.norm1.weight"));
}

TEST(ParameterPatterns, WhatIsNoneIsNamedWithTheRemedy) {
  for (const std::string list : {",", "a,", ",a", "a,,b"}) {
    EXPECT_THAT([&] { (void)patterns_in(list, "--freeze"); },
                ThrowsMessage<ConfigError>(AllOf(HasSubstr("--freeze " + list), HasSubstr("; "))));
  }
  EXPECT_THAT(
      [] {
        check_fits("--freeze", "x.*", std::vector<std::string>{"a.weight", "a.bias"});
      },
      ThrowsMessage<ConfigError>(
          AllOf(HasSubstr("--freeze 'x.*' fits no parameter"), HasSubstr("a.weight, a.bias"))));
  EXPECT_NO_THROW(check_fits("--freeze", "a.*", std::vector<std::string>{"a.weight"}));
}

TEST(ParameterPatterns, RatesHaveAFactorAboveZero) {
  const std::vector<RateOf> rates = rates_in("a.*=0.1,b=2");
  ASSERT_EQ(rates.size(), 2U);
  EXPECT_EQ(rates[0].pattern, "a.*");
  EXPECT_EQ(rates[0].factor, 0.1);
  EXPECT_EQ(rates[1].factor, 2);
  for (const std::string wrong :
       {"a", "a=", "=1", "a=0", "a=-1", "a=x", "a=1x", "a=inf", "a=nan"}) {
    EXPECT_THAT([&] { (void)rates_in(wrong); },
                ThrowsMessage<ConfigError>(HasSubstr("is no pattern with a factor above 0")))
        << wrong;
  }
}

}  // namespace
}  // namespace fast
