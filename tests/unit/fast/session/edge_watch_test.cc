#include "fast/session/edge_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>

namespace fast {
namespace {

using stencil::LinkState;
using stencil::WorkerState;
using ::testing::HasSubstr;

/// A neighbour that is up and trains, without an average; each step brings one with another.
class EdgeWatchTest : public ::testing::Test {
 protected:
  EdgeWatchTest() {
    neighbour_.rank = 3;
    neighbour_.link = LinkState::kUp;
    neighbour_.state = WorkerState::kTraining;
    EXPECT_FALSE(look(0, 0));
  }
  /// Both have made so many steps more, and heartbeats were sent.
  std::optional<stencil::Rank> look(int seconds, std::uint64_t steps) {
    now_ += std::chrono::seconds(seconds);
    sweeps_ += steps;
    neighbour_.step += steps;
    neighbour_.bytes_sent += static_cast<std::uint64_t>(seconds) * 200;
    return watch_.look(now_, sweeps_, {neighbour_, other_});
  }

  EdgeWatch watch_;
  stencil::NeighbourStatus neighbour_;
  stencil::TimePoint now_ = stencil::TimePoint() + std::chrono::hours(1);
  stencil::NeighbourStatus other_;  ///< still connecting
  std::uint64_t sweeps_ = 50;
};

TEST_F(EdgeWatchTest, WithWhomNothingIsAveragedIsNamedOnce) {
  EXPECT_FALSE(look(59, 5000));
  EXPECT_EQ(look(1, 1), 3);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(look(60, 5000)) << "said already";
  EXPECT_THAT(EdgeWatch::advice(3), HasSubstr("neighbour 3"));
}

TEST_F(EdgeWatchTest, ASweepNowAndThenIsEnough) {
  for (int i = 0; i < 10; ++i) {
    ++neighbour_.sweeps;
    EXPECT_FALSE(look(59, 5000));
  }
  EXPECT_FALSE(look(59, 5000));
  EXPECT_EQ(look(1, 0), 3) << "not any more";
}

TEST_F(EdgeWatchTest, ASweepOverAThinLinkTakesItsTime) {
  for (int i = 0; i < 10; ++i) {
    neighbour_.bytes_sent += 2 * EdgeWatch::kBytes;
    EXPECT_FALSE(look(60, 5000));
  }
}

TEST_F(EdgeWatchTest, InSharedMemoryToo) {
  for (int i = 0; i < 10; ++i) {
    neighbour_.bytes_shared += 2 * EdgeWatch::kBytes;
    EXPECT_FALSE(look(60, 5000));
  }
}

TEST_F(EdgeWatchTest, FewStepsAreNotEnough) {
  EXPECT_FALSE(look(600, 99)) << "and sweeps of two neighbours";
  EXPECT_EQ(look(0, 1), 3);
}

TEST_F(EdgeWatchTest, WithTheOnlyNeighbourItIsForTheSweepWatch) {
  for (int i = 0; i < 5; ++i) {
    now_ += EdgeWatch::kLong;
    neighbour_.step += 5000;
    EXPECT_FALSE(watch_.look(now_, sweeps_, {neighbour_}));
  }
}

TEST_F(EdgeWatchTest, WhoIsAwayOrDoneOrBeginsAnewIsNotMeant) {
  EXPECT_FALSE(look(50, 5000));
  neighbour_.link = LinkState::kSuspect;
  EXPECT_FALSE(look(50, 5000));
  neighbour_.link = LinkState::kUp;
  neighbour_.state = WorkerState::kSettling;
  EXPECT_FALSE(look(100, 5000));
  neighbour_.state = WorkerState::kTraining;
  EXPECT_FALSE(look(50, 5000));
  neighbour_.step = 0;
  EXPECT_FALSE(look(50, 5000));
}

}  // namespace
}  // namespace fast
