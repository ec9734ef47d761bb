#include "fast/session/path_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>

namespace fast {
namespace {

using stencil::LinkState;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// A neighbour whose link comes and goes.
class PathWatchTest : public ::testing::Test {
 protected:
  PathWatchTest() { neighbour_.rank = 3; }
  std::optional<stencil::Rank> look(LinkState link, int seconds, bool sends = true) {
    now_ += std::chrono::seconds(seconds);
    neighbour_.link = link;
    if (sends) neighbour_.bytes_sent += PathWatch::kBytes;
    return watch_.look(now_, {neighbour_});
  }
  /// Up for 3 s, then silent for 20.
  std::optional<stencil::Rank> cycle(bool sends = true) {
    if (const auto rank = look(LinkState::kUp, 0, sends)) return rank;
    return look(LinkState::kSuspect, 20, sends);
  }

  PathWatch watch_;
  stencil::NeighbourStatus neighbour_;
  stencil::TimePoint now_ = stencil::TimePoint() + std::chrono::hours(1);
};

TEST_F(PathWatchTest, WhoeverIsOnlyGreetedAgainAndAgainIsNamedOnce) {
  EXPECT_FALSE(cycle());
  EXPECT_EQ(cycle(), 3);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(cycle()) << "said already";
  EXPECT_THAT(PathWatch::advice(3, stencil::as_flag),
              AllOf(HasSubstr("neighbour 3"), HasSubstr("--packet-bytes 1200")));
}

TEST_F(PathWatchTest, APathByWhichAnythingOfAModelComesIsWell) {
  for (int i = 0; i < 10; ++i) {
    neighbour_.moved = now_;
    EXPECT_FALSE(cycle());
  }
  EXPECT_EQ(cycle(), 3) << "not any more";
}

TEST_F(PathWatchTest, AQuietPathIsWell) {
  EXPECT_FALSE(look(LinkState::kUp, 0));
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(look(LinkState::kUp, 20));
}

TEST_F(PathWatchTest, WhoeverSendsNothingLargeCannotTell) {
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(cycle(false));
}

TEST_F(PathWatchTest, SharedMemoryHasNoPath) {
  neighbour_.shared = true;
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(cycle());
}

}  // namespace
}  // namespace fast
