#include "fast/train/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "fast/errors.h"

namespace fast {
namespace {

using ::testing::HasSubstr;

TEST(Schedule, ConstantStaysAtItsRate) {
  const Schedule schedule = Schedule::parse("constant", 0.1, 0);
  for (const double at : {0.0, 0.3, 1.0}) EXPECT_DOUBLE_EQ(schedule.rate(at), 0.1);
}

TEST(Schedule, CosineFallsFromTheBaseToZero) {
  const Schedule schedule = Schedule::parse("cosine", 0.2, 0);
  EXPECT_DOUBLE_EQ(schedule.rate(0), 0.2);
  EXPECT_NEAR(schedule.rate(0.5), 0.1, 1e-12);
  EXPECT_NEAR(schedule.rate(1), 0, 1e-12);
  for (double at = 0.01; at <= 1; at += 0.01) {
    EXPECT_LT(schedule.rate(at), schedule.rate(at - 0.01));
  }
}

TEST(Schedule, StepMultipliesAtEachPoint) {
  const Schedule schedule = Schedule::parse("step:0.1@0.5,0.75", 1, 0);
  EXPECT_DOUBLE_EQ(schedule.rate(0.499), 1);
  EXPECT_DOUBLE_EQ(schedule.rate(0.5), 0.1);
  EXPECT_DOUBLE_EQ(schedule.rate(0.7), 0.1);
  EXPECT_NEAR(schedule.rate(0.75), 0.01, 1e-15);
}

TEST(Schedule, WarmUpRisesLinearlyAndMeetsTheScheduleWithoutAJump) {
  for (const std::string spec : {"constant", "cosine", "step:0.5@0.6"}) {
    SCOPED_TRACE(spec);
    const Schedule schedule = Schedule::parse(spec, 0.4, 0.1);
    EXPECT_DOUBLE_EQ(schedule.rate(0), 0);
    EXPECT_NEAR(schedule.rate(0.025), 0.1, 1e-12);
    EXPECT_NEAR(schedule.rate(0.1 - 1e-9), 0.4, 1e-6);
    EXPECT_NEAR(schedule.rate(0.1), 0.4, 1e-12);
  }
}

TEST(Schedule, ProgressOutsideTheRunIsClamped) {
  for (const std::string spec : {"constant", "cosine", "step:0.5@0.6"}) {
    SCOPED_TRACE(spec);
    const Schedule schedule = Schedule::parse(spec, 0.4, 0.1);
    EXPECT_DOUBLE_EQ(schedule.rate(-5), schedule.rate(0));
    EXPECT_DOUBLE_EQ(schedule.rate(1.5), schedule.rate(1));
    EXPECT_DOUBLE_EQ(schedule.rate(std::numeric_limits<double>::quiet_NaN()), schedule.rate(0));
    EXPECT_DOUBLE_EQ(schedule.rate(std::numeric_limits<double>::infinity()), schedule.rate(1));
  }
}

TEST(Schedule, WrongSpecsNameTheValueAndTheForms) {
  for (const std::string spec :
       {"", "linear", "step", "step:", "step:0.1", "step:@0.5", "step:0.1@", "step:0@0.5",
        "step:-1@0.5", "step:x@0.5", "step:0.1@0.5,", "step:0.1@0.5,0.5", "step:0.1@0.7,0.5",
        "step:0.1@0", "step:0.1@1", "step:nan@0.5", "step:inf@0.5", "step:0.1@nan", "cosine:1"}) {
    SCOPED_TRACE(spec);
    try {
      (void)Schedule::parse(spec, 0.1, 0);
      ADD_FAILURE() << "no ConfigError was thrown";
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr("'" + spec + "'"));
      EXPECT_THAT(error.what(), HasSubstr("step:FACTOR@P1,P2"));
    }
  }
}

TEST(Schedule, WrongRatesAndWarmUpsAreRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double rate : {-0.1, nan, std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW((void)Schedule::parse("cosine", rate, 0), ConfigError);
  }
  for (const double warmup : {-0.1, 1.0, nan}) {
    EXPECT_THROW((void)Schedule::parse("cosine", 0.1, warmup), ConfigError);
  }
}

}  // namespace
}  // namespace fast
