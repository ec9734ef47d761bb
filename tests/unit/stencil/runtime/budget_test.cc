#include "stencil/runtime/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stencil/core/byte_size.h"
#include "stencil/core/error.h"
#include "stencil/core/layout.h"
#include "stencil/mix/codecs/kinds.h"
#include "stencil/runtime/engine_config.h"
#include "tests/support/codec_cases.h"

namespace stencil {
namespace {

using ::testing::HasSubstr;

Footprint footprint_of(std::size_t floats, std::size_t neighbours, const CodecSpec& codec) {
  const Layout layout = Layout::flat(floats);
  return {.floats = floats,
          .buckets = layout.bucket_count() + 1,
          .neighbours = neighbours,
          .payload = layout.bucket_floats() * sizeof(float),
          .codec = edge_codec_bytes(codec, layout),
          .copy = floats * sizeof(float),
          .carried = 1000,
          .checkpoint = 3 * floats * sizeof(float)};
}

std::size_t least_of(const Footprint& footprint) {
  return sum(memory_parts(footprint, tight_bounds(1, footprint.neighbours)));
}

TEST(Budget, WithoutOneTheBoundsAreThoseOfTheWindow) {
  const Footprint large = footprint_of(100'000'000, 8, parse_codec("fp32"));
  const Bounds bounds = bounds_within(0, large, 4);
  EXPECT_EQ(bounds.window, 4U);
  EXPECT_EQ(bounds.window_total, 16U);
  EXPECT_EQ(bounds.retained_total, 64U);
  EXPECT_EQ(bounds.most_held, 64U);
  EXPECT_EQ(bounds.queue_frames, 128U);
  EXPECT_EQ(bounds.partial_payloads, 256U);
  EXPECT_EQ(bounds.payloads, SIZE_MAX);
}

TEST(Budget, AllPartsTogetherAreWithinItAndTheNextWindowWouldNotBe) {
  for (const CodecSpec& codec : test::every_codec(100'000)) {
    for (const std::size_t floats : {100U, 10'000U, 1'000'000U, 20'000'000U}) {
      for (const std::size_t neighbours : {1U, 2U, 4U, 63U}) {
        const Footprint footprint = footprint_of(floats, neighbours, codec);
        const std::size_t least = least_of(footprint);
        for (const std::size_t budget : {least, least + least / 7, 2 * least, 5 * least}) {
          const Bounds bounds = bounds_within(budget, footprint, 32);
          EXPECT_LE(sum(memory_parts(footprint, bounds)), budget) << floats;
          EXPECT_GE(bounds.window, 1U);
          if (bounds.window == 32) continue;
          const Bounds next = tight_bounds(bounds.window + 1, neighbours);
          EXPECT_GT(sum(memory_parts(footprint, next)), budget) << floats << " " << neighbours;
        }
      }
    }
  }
}

TEST(Budget, AMoreThanLargeOneLeavesTheWindowAsItIs) {
  EXPECT_EQ(bounds_within(1UL << 31, footprint_of(1000, 2, parse_codec("fp32")), 4).window, 4U);
}

TEST(Budget, ARecordingTakesWhatIsLeftAndNothingElseLess) {
  Footprint footprint = footprint_of(100'000, 2, parse_codec("fp32"));
  const std::size_t without = least_of(footprint);
  EXPECT_EQ(bounds_within(0, footprint, 4).recording, std::size_t{64} << 20);
  footprint.records = true;
  const std::size_t least = least_of(footprint);
  EXPECT_GT(least, without);
  EXPECT_THROW((void)bounds_within(without, footprint, 4), ConfigError);
  std::size_t before = 0;
  for (const std::size_t budget : {least, least + 1'000'000, 4 * least, std::size_t{1} << 31}) {
    const Bounds bounds = bounds_within(budget, footprint, 4);
    EXPECT_LE(sum(memory_parts(footprint, bounds)), budget);
    EXPECT_GE(bounds.recording, before);
    before = bounds.recording;
    footprint.records = false;
    EXPECT_GE(bounds_within(budget, footprint, 4).window, bounds.window);
    footprint.records = true;
  }
  EXPECT_EQ(before, std::size_t{64} << 20) << "no more than without a budget";
}

/// Whatever one says is the least is enough, and less is not.
TEST(Budget, OneTooSmallIsRefusedWithTheSumAndTheLeastThatWouldDo) {
  Footprint footprint = footprint_of(1'000'000, 2, parse_codec("topk:0.01"));
  footprint.records = true;
  const std::size_t least = least_of(footprint);
  EXPECT_EQ(bounds_within(least, footprint, 4).window, 1U);
  try {
    (void)bounds_within(least - 1, footprint, 4, as_flag);
    FAIL() << "nothing was refused";
  } catch (const ConfigError& error) {
    const std::string text = error.what();
    EXPECT_THAT(text, HasSubstr("--memory-budget " + bytes_text(least - 1) + " is too little"));
    EXPECT_THAT(text, HasSubstr("give --memory-budget " + bytes_text(least) + " or more"));
    for (const MemoryPart& part : memory_parts(footprint, tight_bounds(1, 2))) {
      EXPECT_THAT(text, HasSubstr(std::string(part.what) + " " + bytes_text(part.bytes)));
    }
  }
  EXPECT_EQ(bounds_within(*parse_bytes(bytes_text(least)), footprint, 4).window, 1U);
}

TEST(Budget, InLockStepNothingIsSetAside) {
  Footprint footprint = footprint_of(1'000'000, 2, parse_codec("fp32"));
  const std::size_t before = least_of(footprint);
  footprint.sets_aside = false;
  EXPECT_EQ(before - least_of(footprint), 4'000'000 + footprint.payload);
}

/// What stencil/README.md promises.
TEST(Budget, ASmallDeviceNeedsLittle) {
  Footprint footprint = footprint_of(100'000, 2, parse_codec("fp32"));
  footprint.copy = footprint.checkpoint = 0;
  footprint.takes_initial = false;
  EXPECT_LE(least_of(footprint), 4'000'000U);
}

TEST(Budget, AnEngineIsBoundByIt) {
  EngineConfig engine;
  tight_bounds(2, 4).apply_to(engine);
  EXPECT_EQ(engine.window, 2U);
  EXPECT_EQ(engine.window_total, 8U);
  EXPECT_EQ(engine.retained_total, 32U);
  EXPECT_EQ(engine.most_held, 8U);
}

}  // namespace
}  // namespace stencil
