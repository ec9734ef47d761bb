// How two workers meet, fall silent, leave and come back, frame by frame.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/engine_pair.h"

namespace stencil {
namespace {

using test::EnginePair;

constexpr double kEnds = 1 + 2 + 3 + 4 - 8;  // the sum that every exchange keeps

TEST(Engine, two_hellos_open_a_link_and_both_train) {
  EnginePair pair;
  pair.meet();
  for (const Rank rank : {0, 1}) {
    EXPECT_TRUE(pair.edge(rank).up());
    EXPECT_EQ(pair.pump(rank).status().state, WorkerState::kTraining);
    EXPECT_EQ(pair.counters(rank).stale_frames, 0U);
  }
  EXPECT_EQ(pair.wire.under_way(0) + pair.wire.under_way(1), 0U) << "hellos must come to an end";
}

TEST(Engine, lost_hellos_are_repeated) {
  EnginePair pair;
  pair.wire.connect();
  pair.turn(1);
  pair.wire.swallow(1);
  pair.pass(1.0);
  EXPECT_TRUE(pair.edge(0).up());
  EXPECT_TRUE(pair.edge(1).up());
}

TEST(Engine, simultaneous_hellos_agree_on_one_epoch_each) {
  EnginePair pair;
  pair.meet();
  for (int i = 0; i < 5; ++i) {
    pair.wire.cut();
    pair.turn(0);
    pair.turn(1);
    pair.wire.connect();
    pair.turn(1);
    pair.now += std::chrono::seconds(1);
    pair.turn(1);  // sends it again before it arrived
    pair.deliver_all();
    EXPECT_TRUE(pair.edge(0).up() && pair.edge(1).up());
    EXPECT_EQ(pair.edge(0).life.our_epoch, pair.edge(1).life.their_epoch);
    EXPECT_EQ(pair.edge(1).life.our_epoch, pair.edge(0).life.their_epoch);
  }
}

TEST(Engine, what_an_overtaken_message_says_of_its_sender_is_known_as_old) {
  EnginePair pair;
  pair.meet();
  pair.boundary(1);
  Message late = pair.wire.front(1);
  late.body = Heartbeat{};
  pair.deliver_all();
  pair.boundary(1);
  pair.deliver_all();
  ASSERT_EQ(pair.edge(0).report.steps.count, 2U);
  ASSERT_EQ(late.header.step, 1U);
  late.header.settled_hops = 7;
  late.header.state = WorkerState::kSettled;
  pair.wire.inject(1, late);
  pair.deliver_all();
  EXPECT_EQ(pair.edge(0).report.steps.count, 2U);
  EXPECT_EQ(pair.edge(0).report.settled_hops, 0U);
  EXPECT_EQ(pair.edge(0).report.state, WorkerState::kTraining);

  late.header.number = pair.edge(0).report.number + 1;
  pair.wire.inject(1, late);
  pair.deliver_all();
  EXPECT_EQ(pair.edge(0).report.steps.count, 1U) << "a newer one is believed";
  EXPECT_EQ(pair.edge(0).report.settled_hops, 7U);
}

TEST(Engine, the_hash_of_a_first_batch_is_told_at_once_and_again) {
  EnginePair pair;
  pair.meet();
  pair.standing[0].first_batch = 77;
  pair.turn(0);
  pair.deliver_all();
  EXPECT_EQ(pair.edge(1).report.first_batch, 77U);
  EXPECT_EQ(pair.pump(1).status().neighbours.at(0).first_batch, 77U);
  EXPECT_EQ(pair.edge(0).report.first_batch, 0U) << "it has none";
}

TEST(Engine, a_new_epoch_counts_messages_anew) {
  EnginePair pair;
  pair.meet();
  pair.boundary(1);
  Message ahead = pair.wire.front(1);
  pair.deliver_all();
  ahead.body = Heartbeat{};
  ahead.header.number += 1000;
  ahead.header.step = 50;
  ahead.header.state = WorkerState::kSettling;
  pair.wire.inject(1, ahead);
  pair.deliver_all();
  EXPECT_EQ(pair.edge(0).report.steps.count, 50U);
  EXPECT_EQ(pair.edge(0).report.state, WorkerState::kSettling);
  pair.wire.cut();
  pair.turn(0);
  pair.turn(1);
  pair.meet();
  EXPECT_EQ(pair.edge(0).report.steps.count, 1U);
}

TEST(Engine, frames_of_an_epoch_that_is_over_are_dropped) {
  EnginePair pair;
  pair.meet();
  pair.boundary(0);
  const Message offer = pair.wire.front(0);
  pair.wire.cut();
  pair.turn(0);
  pair.turn(1);
  pair.meet();
  const auto before = pair.counters(1);
  const double sum = pair.sum();
  pair.wire.inject(0, offer);
  pair.deliver_all();
  EXPECT_EQ(pair.counters(1).stale_frames, before.stale_frames + 1);
  EXPECT_EQ(pair.counters(1).answers, before.answers);
  EXPECT_NEAR(pair.sum(), sum, 1e-6);
}

TEST(Engine, silence_makes_a_neighbour_suspect_and_then_gone_and_it_may_return) {
  EnginePair pair;
  pair.meet();
  pair.boundary(0);  // in flight when the silence begins
  EXPECT_EQ(pair.open_offers(0), 3U);
  const auto silent = [&](double seconds) {
    const TimePoint end = pair.now + std::chrono::milliseconds(static_cast<int>(seconds * 1000));
    while (pair.now < end) {
      pair.now += std::chrono::milliseconds(100);
      pair.turn(0);
    }
  };
  silent(2.9);
  EXPECT_EQ(pair.edge(0).state, LinkState::kUp);
  silent(0.2);
  EXPECT_EQ(pair.edge(0).state, LinkState::kSuspect);
  EXPECT_EQ(pair.counters(0).suspected, 1U);
  silent(57);
  EXPECT_EQ(pair.edge(0).state, LinkState::kGone);
  EXPECT_EQ(pair.counters(0).lost_in_flight, 3U);
  EXPECT_EQ(pair.open_offers(0), 0U);
  pair.deliver_all();
  pair.pass(1);
  EXPECT_EQ(pair.edge(0).state, LinkState::kUp);
  EXPECT_EQ(pair.edge(1).state, LinkState::kUp);
  pair.boundary(0);
  pair.deliver_all();
  EXPECT_EQ(pair.z(0), pair.z(1));
}

TEST(Engine, a_suspect_that_speaks_again_is_up_and_its_late_replies_count) {
  EnginePair pair;
  pair.meet();
  pair.boundary(0);
  pair.wire.deliver(0);
  pair.turn(1);
  pair.now += std::chrono::seconds(4);
  pair.turn(0);
  EXPECT_EQ(pair.edge(0).state, LinkState::kSuspect);
  pair.deliver_all();
  EXPECT_EQ(pair.edge(0).state, LinkState::kUp);
  EXPECT_EQ(pair.counters(0).returned, 1U);
  EXPECT_EQ(pair.z(0), pair.z(1));
  EXPECT_NEAR(pair.sum(), kEnds, 1e-6);
}

TEST(Engine, who_leaves_is_asked_nothing_and_is_not_suspected) {
  EnginePair pair;
  pair.meet();
  pair.standing[1].leave = true;
  pair.turn(1);
  pair.deliver_all();
  EXPECT_EQ(pair.edge(0).state, LinkState::kLeft);
  for (int i = 0; i < 700; ++i) {
    pair.now += std::chrono::milliseconds(100);
    pair.turn(0);
  }
  pair.boundary(0);
  EXPECT_EQ(pair.counters(0).offers, 0U);
  EXPECT_EQ(pair.counters(0).suspected, 0U);
}

TEST(Engine, who_leaves_before_it_has_heard_our_hello_has_left_all_the_same) {
  EnginePair pair;
  pair.wire.connect();
  for (int i = 0; i < 10 && !pair.edge(0).up(); ++i) {
    pair.turn(1);
    pair.wire.deliver(1, 1);
    pair.turn(0);
    if (!pair.edge(0).up()) pair.wire.deliver(0, 1);
  }
  ASSERT_TRUE(pair.edge(0).up() && !pair.edge(1).up());
  pair.boundary(0);
  ASSERT_GT(pair.open_offers(0), 0U);
  pair.standing[1].leave = true;
  pair.turn(1);
  pair.wire.deliver(1);
  pair.turn(0);
  EXPECT_EQ(pair.edge(0).state, LinkState::kLeft);
  EXPECT_TRUE(pair.pump(0).status().flushed) << "waits for replies that cannot come";
}

TEST(Engine, who_leaves_while_we_synchronise_anew_has_left_all_the_same) {
  EnginePair pair;
  pair.meet();
  pair.boundary(0);
  pair.boundary(1);
  pair.wire.swallow(1);
  pair.wire.deliver(1);
  pair.turn(0);
  ASSERT_EQ(pair.counters(0).gaps, 1U);
  pair.standing[1].leave = true;
  pair.turn(1);
  pair.wire.deliver(1);
  pair.turn(0);
  EXPECT_EQ(pair.edge(0).state, LinkState::kLeft);
}

/// Both ends of an edge may dial, so a second link may come up after the Leave on the first.
TEST(Engine, who_has_left_greets_nobody_on_a_link_that_comes_later) {
  EnginePair pair;
  pair.meet();
  pair.standing[1].leave = true;
  pair.turn(1);
  pair.wire.deliver(1);
  pair.turn(0);
  ASSERT_EQ(pair.edge(0).state, LinkState::kLeft);
  pair.wire.cut();
  pair.wire.connect();
  pair.pass(2);
  EXPECT_EQ(pair.edge(0).state, LinkState::kLeft);
}

TEST(Engine, a_restarted_neighbour_is_met_anew_and_what_died_with_it_is_counted) {
  EnginePair pair;
  pair.meet();
  pair.boundary(0);
  pair.wire.cut();
  pair.turn(0);
  pair.restart(1);
  pair.meet();
  EXPECT_EQ(pair.counters(0).lost_in_flight, 3U);
  EXPECT_TRUE(pair.edge(0).up() && pair.edge(1).up());
  pair.boundary(0);
  pair.deliver_all();
  EXPECT_EQ(pair.z(0), pair.z(1));
}

}  // namespace
}  // namespace stencil
