#include "stencil/engine/shared_exchange.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/engine_self.h"

namespace stencil {
namespace {

/// Rank 0 of ring:2 and its neighbour on the same host, with four buckets, the last the
/// telemetry's.
class SharedExchangeTest : public testing::Test {
 protected:
  SharedExchangeTest() {
    them().shared = true;
    sweeps_.sharing_changed();
    sweeps_.earn(1000);
    lone_.step_to(1);  // whose sweep it is
    sweeps_.begin(them(), false);
    turns_.open_sweeps();
  }
  [[nodiscard]] Neighbour& them() { return lone_.at(1); }
  std::vector<std::uint32_t> take() {
    shared_.claim(lone_.now);
    shared_.take(lone_.now, lone_.out);
    std::vector<std::uint32_t> buckets;
    for (const action::Share& share : lone_.done<action::Share>()) buckets.push_back(share.bucket);
    return buckets;
  }
  void done(std::uint32_t bucket, ShareResult result = ShareResult::kDone) {
    shared_.on_share(lone_.now, them(), bucket, result);
  }

  test::LoneSelf lone_{"ring:2", "async", 4};
  EngineCounters& counters_ = lone_.self.counters;
  SweepBook sweeps_{lone_.self.config.buckets, counters_.looked};
  TurnKeeper turns_{lone_.self, sweeps_};
  OfferExchange exchange_{lone_.self, sweeps_, turns_};
  SharedExchange shared_{lone_.self, sweeps_, turns_, exchange_};
};

TEST_F(SharedExchangeTest, takes_each_bucket_of_the_model_once_and_none_of_the_telemetry) {
  EXPECT_EQ(shared_.next(), TimePoint{});
  EXPECT_EQ(take(), (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_TRUE(take().empty());
  EXPECT_EQ(shared_.next(), kNever);
  for (const std::uint32_t bucket : {0, 1, 2}) done(bucket);
  EXPECT_EQ(counters_.shares, 3U);
}

TEST_F(SharedExchangeTest, gives_a_window_at_a_time) {
  lone_.self.config.window = 2;
  EXPECT_EQ(take().size(), 2U);
  EXPECT_EQ(take().size(), 1U);
}

TEST_F(SharedExchangeTest, leaves_out_what_another_request_of_ours_holds_open) {
  sweeps_.open(1);
  EXPECT_EQ(take(), (std::vector<std::uint32_t>{0, 2}));
  sweeps_.close_request(1);
  EXPECT_EQ(take(), (std::vector<std::uint32_t>{1}));
}

TEST_F(SharedExchangeTest, nothing_is_taken_of_one_that_is_silent_or_when_all_is_over) {
  them().state = LinkState::kSuspect;
  EXPECT_TRUE(take().empty());
  EXPECT_EQ(shared_.next(), kNever);
  them().state = LinkState::kUp;
  lone_.self.state = WorkerState::kFrozen;
  EXPECT_TRUE(take().empty());
}

TEST_F(SharedExchangeTest, a_bucket_that_is_held_is_tried_again_and_left_out_in_the_end) {
  for (const std::uint32_t bucket : take()) {
    if (bucket != 1) done(bucket);
  }
  done(1, ShareResult::kLocked);
  int tries = 1;
  for (; tries < 1000; ++tries) {
    const TimePoint next = shared_.next();
    if (next == kNever) break;
    lone_.now = std::max(lone_.now, next);
    const auto again = take();
    if (again.empty()) break;
    EXPECT_EQ(again, (std::vector<std::uint32_t>{1}));
    done(1, ShareResult::kLocked);
  }
  EXPECT_GT(tries, 5);
  EXPECT_LT(tries, 100);
  EXPECT_EQ(counters_.skipped, 1U);
  EXPECT_LE(lone_.now - (TimePoint{} + std::chrono::hours(1)), std::chrono::milliseconds(50));
}

TEST_F(SharedExchangeTest, what_they_refuse_is_counted_and_not_asked_for_again) {
  for (const std::uint32_t bucket : take()) done(bucket, ShareResult::kRefused);
  EXPECT_EQ(counters_.shares_declined, 3U);
  EXPECT_TRUE(take().empty());
}

}  // namespace
}  // namespace stencil
