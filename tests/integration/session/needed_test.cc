// Steps that ask for each part of the model just before they use it.
#include <gtest/gtest.h>

#include <barrier>
#include <chrono>
#include <cstddef>
#include <future>
#include <thread>
#include <vector>

#include "tests/integration/session/session_fixture.h"

namespace fast {
namespace {

constexpr std::size_t kFloats = 1024, kPart = 256;  // four parts, each a bucket of a KiB

class NeededTest : public SessionModeTest {
 protected:
  [[nodiscard]] SessionOptions options_of(int rank) const {
    SessionOptions one = options("ring:2", rank, GetParam());
    one.exchange.bucket_kib = 1;
    return one;
  }
  /// Waits until a session has nothing under way. What it shows may be of a while ago.
  static bool exchanged(const Session& session) {
    std::promise<void> nothing;
    const std::future<void> never = nothing.get_future();
    bool flushed = false;
    for (int tries = 0, seen = 0; seen < 3 && tries < 600; ++tries) {
      (void)never.wait_for(std::chrono::milliseconds(100));
      flushed = session.status().flushed;
      seen = flushed ? seen + 1 : 0;
    }
    return flushed;
  }
};

/// In lock step all is taken in at the boundary.
class NeededPartTest : public NeededTest {};

INSTANTIATE_TEST_SUITE_P(Modes, NeededTest, ::testing::ValuesIn(kSessionModes), mode_name);
INSTANTIATE_TEST_SUITE_P(Modes, NeededPartTest, ::testing::Values("async", "bounded:2"), mode_name);

/// Each worker adds 1 to all of its model in each step, so all end at their number of steps,
/// whatever was exchanged and when.
TEST_P(NeededTest, PartByPartTheMeanIsKeptAndAllAgree) {
  constexpr int kSteps = 100;
  std::vector<std::vector<float>> models(2, std::vector<float>(kFloats));
  in_threads(2, [&](int rank) {
    std::vector<float>& x = models[static_cast<std::size_t>(rank)];
    FlatAdapter adapter(x);
    Session session(adapter, options_of(rank));
    session.join();
    for (int step = 0; step < kSteps; ++step) {
      for (std::size_t first = 0; first < kFloats; first += kPart) session.needed(first, kPart);
      for (std::size_t first = kFloats; first > 0; first -= kPart) {
        for (std::size_t i = first - kPart; i < first; ++i) x[i] += 1;
        if (step % 2 == 0) adapter.ready_from(first - kPart);
      }
      session.exchange({.samples = 1, .loss = 1});
    }
    EXPECT_EQ(session.finish(), Agreement::kAgreed);
  });
  for (const auto& x : models) {
    for (const float value : x) ASSERT_NEAR(value, kSteps, 1e-3);
  }
}

/// As said below, but that a worker asks for nothing and says that it is about to change its model:
/// what had come by then is in there.
TEST_P(NeededPartTest, WhatComesIsAddedBeforeItIsAskedFor) {
  constexpr int kSteps = 3;
  std::barrier both(2);
  int ahead = 0;
  in_threads(2, [&](int rank) {
    std::vector<float> x(kFloats);
    FlatAdapter adapter(x);
    SessionOptions one = options_of(rank);
    one.exchange.linger = one.exchange.phase_lock = 0;
    Session session(adapter, one);
    session.join();
    for (int step = 0; step < kSteps; ++step) {
      session.needed(0, kFloats);
      for (float& value : x) value += static_cast<float>(2 * rank);
      session.exchange({.samples = 1, .loss = 1});
      both.arrive_and_wait();
      EXPECT_TRUE(exchanged(session));
      both.arrive_and_wait();
      session.changing();
      const std::vector<float> before = x;
      session.needed(0, kFloats);
      if (rank == 0 && x[0] > 0 && x == before) ++ahead;
      both.arrive_and_wait();
    }
    EXPECT_EQ(session.finish(), Agreement::kAgreed);
    EXPECT_NEAR(x[0], kSteps, 1e-3) << "the mean is kept";
  });
  EXPECT_GT(ahead, 0);
}

/// In each step worker 1 alone moves its model, by 1. Once both have passed the boundary and all is
/// exchanged, the first half is asked for: there both come to the mean, in the other half each
/// still has what its boundary left it with.
TEST_P(NeededPartTest, TakesInAPartAndLeavesTheRestUntilItIsAskedFor) {
  constexpr int kSteps = 3;
  std::barrier both(2);
  std::vector<std::vector<float>> models(2, std::vector<float>(kFloats));
  in_threads(2, [&](int rank) {
    std::vector<float>& x = models[static_cast<std::size_t>(rank)];
    FlatAdapter adapter(x);
    SessionOptions one = options_of(rank);
    one.exchange.linger = one.exchange.phase_lock = 0;
    one.exchange.fold_ahead = false;
    Session session(adapter, one);
    session.join();
    session.needed(0, kFloats);
    for (int step = 0; step < kSteps; ++step) {
      for (float& value : x) value += static_cast<float>(rank);
      both.arrive_and_wait();
      session.exchange({.samples = 1, .loss = 1});
      const std::vector<float> left = x;
      both.arrive_and_wait();
      EXPECT_TRUE(exchanged(session));
      both.arrive_and_wait();
      EXPECT_TRUE(exchanged(session));
      both.arrive_and_wait();
      session.needed(0, kFloats / 2);
      const std::vector<float>& other = models[static_cast<std::size_t>(1 - rank)];
      both.arrive_and_wait();
      for (std::size_t i = 0; i < kFloats / 2; ++i) EXPECT_NEAR(x[i], other[i], 0.51) << i;
      for (std::size_t i = kFloats / 2; i < kFloats; ++i) EXPECT_EQ(x[i], left[i]) << i;
      both.arrive_and_wait();
      session.needed(0, kFloats);
    }
    EXPECT_EQ(session.finish(), Agreement::kAgreed);
  });
}

TEST_P(NeededTest, OutsideOfTrainingIsIgnored) {
  std::vector<float> x(kFloats, 1.0F);
  FlatAdapter adapter(x);
  SessionOptions one = options("ring:1", 0, GetParam());
  Session session(adapter, one);
  session.needed(0, kFloats);
  session.join();
  session.needed(kFloats, 100);
  session.needed(0, 0);
  session.exchange({.samples = 1, .loss = 1});
  EXPECT_EQ(session.finish(), Agreement::kAgreed);
  session.needed(0, kFloats);
  EXPECT_EQ(x, std::vector<float>(kFloats, 1.0F));
}

}  // namespace
}  // namespace fast
