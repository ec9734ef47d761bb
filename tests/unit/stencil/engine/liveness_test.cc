#include "stencil/engine/liveness.h"

#include <gtest/gtest.h>

#include "tests/support/engine_self.h"

namespace stencil {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Rank 0 of ring:2 and its neighbour, as of the usual times: 3 s to be suspect, 60 to be gone.
class LivenessTest : public testing::Test {
 protected:
  LivenessTest() { hear(); }
  [[nodiscard]] Neighbour& them() { return lone_.at(1); }
  void hear(std::uint64_t step = 0) {
    MessageHeader header;
    header.from = 1;
    header.number = ++said_;
    header.state = WorkerState::kTraining;
    header.step = step;
    liveness_.heard(lone_.now, them(), header);
  }
  void wait(milliseconds time) {
    lone_.pass(time);
    liveness_.tick(lone_.now, them(), lone_.out);
  }

  test::LoneSelf lone_{"ring:2"};
  SweepBook sweeps_{lone_.self.config.buckets, lone_.self.counters.looked};
  TurnKeeper turns_{lone_.self, sweeps_};
  OfferExchange exchange_{lone_.self, sweeps_, turns_};
  Handshake handshake_{lone_.self, exchange_};
  Liveness liveness_{lone_.self, handshake_, exchange_};
  std::uint64_t said_ = 0;
};

TEST_F(LivenessTest, who_is_silent_is_suspect_then_gone_and_up_again_when_it_speaks) {
  wait(milliseconds(2900));
  EXPECT_EQ(them().state, LinkState::kUp);
  wait(milliseconds(200));
  EXPECT_EQ(them().state, LinkState::kSuspect);
  hear();
  EXPECT_EQ(them().state, LinkState::kUp);
  EXPECT_EQ(lone_.self.counters.returned, 1U);
  wait(seconds(4));
  wait(seconds(57));
  EXPECT_EQ(them().state, LinkState::kGone);
  EXPECT_EQ(lone_.self.counters.suspected, 2U);
  EXPECT_EQ(lone_.self.counters.gone, 1U);
}

TEST_F(LivenessTest, a_link_of_seconds_is_not_quiet_when_a_quick_one_is) {
  them().round_trip = seconds(5);
  wait(milliseconds(7900));
  EXPECT_EQ(them().state, LinkState::kUp);
  wait(milliseconds(200));
  EXPECT_EQ(them().state, LinkState::kSuspect);
}

TEST_F(LivenessTest, a_lost_link_is_suspect_at_once) {
  liveness_.on_link_down(them());
  EXPECT_EQ(them().state, LinkState::kSuspect);
  EXPECT_FALSE(them().up());
}

TEST_F(LivenessTest, hears_of_us_at_every_heartbeat) {
  wait(milliseconds(1));
  lone_.done<action::Send>();
  wait(milliseconds(499));
  EXPECT_TRUE(lone_.done<action::Send>().empty());
  wait(milliseconds(1));
  EXPECT_EQ(lone_.done<action::Send>().size(), 1U);
}

TEST_F(LivenessTest, says_when_it_must_be_asked_next) {
  wait(milliseconds(1));  // sends
  EXPECT_EQ(liveness_.next(them()), lone_.now + milliseconds(500));
  them().has_link = false;
  EXPECT_EQ(liveness_.next(them()), them().times.heard + seconds(3));
  them().state = LinkState::kSuspect;
  EXPECT_EQ(liveness_.next(them()), them().times.heard + seconds(60));
  them().state = LinkState::kLeft;
  EXPECT_EQ(liveness_.next(them()), kNever);
}

TEST_F(LivenessTest, what_an_older_message_says_does_not_count) {
  hear(7);
  MessageHeader late;
  late.from = 1;
  late.number = said_ - 1;
  late.state = WorkerState::kJoining;
  late.step = 3;
  liveness_.heard(lone_.now, them(), late);
  EXPECT_EQ(them().report.steps.count, 7U);
  EXPECT_EQ(them().report.state, WorkerState::kTraining);
}

TEST_F(LivenessTest, an_edge_on_which_no_reply_comes_is_begun_anew) {
  them().book.open.push_back(
      OpenOffer{.sequence = 1, .bucket = 0, .since = lone_.now, .made = true});
  const std::uint32_t epoch = them().life.our_epoch;
  for (int second = 1; second < 10; ++second) {
    hear();
    wait(seconds(1));
  }
  EXPECT_EQ(them().life.our_epoch, epoch);
  hear();
  wait(milliseconds(1001));
  EXPECT_GT(them().life.our_epoch, epoch);
}

TEST_F(LivenessTest, a_reply_that_was_given_up_is_waited_for_longer_the_next_time) {
  them().book.open.push_back(
      OpenOffer{.sequence = 1, .bucket = 0, .since = lone_.now, .made = true});
  const auto seconds_until_anew = [&] {
    const std::uint32_t epoch = them().life.our_epoch;
    them().life.acknowledged = true;
    int waited = 0;
    for (; them().life.our_epoch == epoch && waited < 100; ++waited) {
      hear();
      wait(seconds(1));
    }
    return waited;
  };
  EXPECT_EQ(seconds_until_anew(), 10);
  EXPECT_EQ(seconds_until_anew(), 20);
  EXPECT_EQ(seconds_until_anew(), 30);
}

}  // namespace
}  // namespace stencil
