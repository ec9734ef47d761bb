#include "fast/session/sweep_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "stencil/mix/codecs/kinds.h"

namespace fast {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kSteps = SweepWatch::kSteps;
constexpr stencil::TimePoint kNow{};

SweepWatch watch_of(double sweeps, const char* mode = "async", const char* codec = "fp32") {
  stencil::EngineConfig config;
  config.grid.sweeps_per_mille = static_cast<std::uint32_t>(sweeps * 1000);
  config.mode = stencil::Mode::parse(mode);
  config.hello.codec = stencil::parse_codec(codec);
  return SweepWatch(config);
}

TEST(SweepWatchTest, FewerThanHalfOfWhatWasAskedForAreNamedOnce) {
  SweepWatch watch = watch_of(2);
  EXPECT_FALSE(watch.look(kNow, 0, 0, true));
  EXPECT_FALSE(watch.look(kNow, kSteps - 1, 0, true)) << "too early to tell";
  const auto rate = watch.look(kNow, kSteps, kSteps / 2, true);
  ASSERT_TRUE(rate);
  EXPECT_EQ(*rate, 0.5);
  EXPECT_FALSE(watch.look(kNow, 2 * kSteps, kSteps / 2, true)) << "said already";
}

TEST(SweepWatchTest, HalfIsEnough) {
  SweepWatch watch = watch_of(2);
  EXPECT_FALSE(watch.look(kNow, 0, 0, true));
  EXPECT_FALSE(watch.look(kNow, kSteps, kSteps, true));
  EXPECT_TRUE(watch.look(kNow, 2 * kSteps, 2 * kSteps - 1, true))
      << "each stretch counts by itself";
}

TEST(SweepWatchTest, WhoHasNobodyToAverageWithIsNotJudged) {
  SweepWatch watch = watch_of(1);
  EXPECT_FALSE(watch.look(kNow, 0, 0, false));
  EXPECT_FALSE(watch.look(kNow, kSteps, 0, false));
  EXPECT_FALSE(watch.look(kNow, kSteps + 1, 0, true)) << "steps begin to count here";
  EXPECT_FALSE(watch.look(kNow, 2 * kSteps, 0, true));
  EXPECT_FALSE(watch.look(kNow, 2 * kSteps + 1, 0, false)) << "and no longer";
  EXPECT_FALSE(watch.look(kNow, 2 * kSteps + 2, 0, true));
  EXPECT_FALSE(watch.look(kNow, 3 * kSteps + 1, 0, true));
  EXPECT_TRUE(watch.look(kNow, 3 * kSteps + 2, 0, true));
}

TEST(SweepWatchTest, WhoAsksForNoneMissesNone) {
  SweepWatch watch = watch_of(0);
  EXPECT_FALSE(watch.look(kNow, 0, 0, true));
  EXPECT_FALSE(watch.look(kNow, 10 * kSteps, 0, true));
}

TEST(SweepWatchTest, WhoSitsOutTurnsIsNotAskedForThem) {
  stencil::EngineConfig config;
  const auto star = stencil::Topology::from_edges("0 1\n0 2\n0 3\n0 4\n", "edges:star");
  config.stand(star, 1);  // one turn of four
  config.grid.sweeps_per_mille = 4000;
  SweepWatch watch(config);
  EXPECT_FALSE(watch.look(kNow, 0, 0, true));
  EXPECT_FALSE(watch.look(kNow, kSteps, kSteps / 2, true));
  EXPECT_TRUE(watch.look(kNow, 2 * kSteps, kSteps - 1, true));
}

TEST(SweepWatchTest, WhatIsAskedForFollowsTheGrid) {
  SweepWatch watch = watch_of(4);
  EXPECT_FALSE(watch.look(kNow, 0, 0, true));
  watch.follow({.version = 1, .turns = 2, .reach = 1, .sweeps_per_mille = 1000}, 2);
  EXPECT_FALSE(watch.look(kNow, kSteps, 0, true)) << "those of another grid are not judged";
  EXPECT_FALSE(watch.look(kNow, 2 * kSteps, kSteps / 2, true));
  EXPECT_TRUE(watch.look(kNow, 3 * kSteps, kSteps - 1, true));
}

TEST(SweepWatchTest, LockStepMissesNone) {
  SweepWatch watch = watch_of(1, "sync");
  EXPECT_FALSE(watch.look(kNow, 0, 0, true));
  EXPECT_FALSE(watch.look(kNow, kSteps, 0, true));
}

TEST(SweepWatchTest, AdviceNamesWhatWasFoundAndWhatIsNotYetDone) {
  using testing::AllOf, testing::HasSubstr, testing::Not;
  EXPECT_THAT(watch_of(2).advice(0.254, {}, false),
              AllOf(HasSubstr("0.25 times a step"), HasSubstr("2 were asked for"),
                    HasSubstr("codec int4"), HasSubstr("mode bounded:3")));
  EXPECT_THAT(watch_of(2, "bounded:4").advice(0.3, {}, false),
              AllOf(HasSubstr("codec int4"), Not(HasSubstr("mode bounded"))));
  EXPECT_THAT(watch_of(2, "async", "topk:0.1").advice(0.3, {}, false),
              AllOf(Not(HasSubstr("codec")), HasSubstr("mode bounded:3")));
}

TEST(SweepWatchTest, StepsShorterThanAnExchangeAreTheCauseThatIsNamed) {
  using testing::AllOf, testing::HasSubstr, testing::Not;
  SweepWatch watch = watch_of(2);
  EXPECT_FALSE(watch.look(kNow, 0, 0, true));
  const auto rate = watch.look(kNow + kSteps * milliseconds(1), kSteps, 0, true);
  ASSERT_TRUE(rate);
  EXPECT_THAT(watch.advice(*rate, milliseconds(4), false),
              AllOf(HasSubstr("a step takes 1 ms"), HasSubstr("one bucket 4"),
                    HasSubstr("larger batches"), HasSubstr("codec int4")));
  EXPECT_THAT(watch.advice(*rate, std::chrono::microseconds(900), false),
              AllOf(HasSubstr("a step takes 1 ms"), Not(HasSubstr("codec"))));
  EXPECT_THAT(watch.advice(*rate, std::chrono::microseconds(600), false),
              AllOf(Not(HasSubstr("a step takes")), HasSubstr("mode bounded:3")));
}

TEST(SweepWatchTest, WithinAHostNoCodecIsAdvised) {
  using testing::AllOf, testing::HasSubstr, testing::Not;
  EXPECT_THAT(watch_of(2).advice(0.3, {}, true),
              AllOf(HasSubstr("busy host"), Not(HasSubstr("codec"))));
}

TEST(SweepWatchTest, OptionsAreCalledByTheNamesThatTheReaderKnows) {
  stencil::EngineConfig config;
  config.naming = stencil::as_flag;
  EXPECT_THAT(
      SweepWatch(config).advice(0.2, {}, false),
      testing::AllOf(testing::HasSubstr("--codec int4"), testing::HasSubstr("--mode bounded:3")));
}

}  // namespace
}  // namespace fast
