// The exchange between two workers, frame by frame.
#include "stencil/engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "stencil/mix/codecs/kinds.h"
#include "tests/support/engine_pair.h"

namespace stencil {
namespace {

using test::EnginePair;

constexpr double kEnds = 1 + 2 + 3 + 4 - 8;  // the sum that every exchange keeps

TEST(Engine, one_sweep_makes_two_workers_agree_and_keeps_the_sum) {
  EnginePair pair;
  pair.meet();
  pair.boundary(0);
  pair.deliver_all();
  EXPECT_EQ(pair.z(0), pair.z(1));
  EXPECT_NEAR(pair.sum(), kEnds, 1e-6);
  EXPECT_EQ(pair.counters(0).sweeps, 1U);
  EXPECT_EQ(pair.counters(1).answers, 3U);  // two buckets and the telemetry
}

TEST(Engine, crossing_requests_are_merged_by_both) {
  EnginePair pair;
  pair.meet();
  pair.boundary(0);
  pair.boundary(1);
  pair.deliver_all();
  EXPECT_EQ(pair.z(0), pair.z(1));
  EXPECT_NEAR(pair.sum(), kEnds, 1e-6);
  EXPECT_EQ(pair.counters(0).merges, 3U);
  EXPECT_EQ(pair.counters(1).merges, 3U);
}

TEST(Engine, a_sweep_that_begins_in_the_middle_of_a_step_brings_what_is_made_alone) {
  EnginePair pair;  // two buckets and the telemetry
  pair.meet();
  pair.standing[0].made_from = 1;
  pair.turn(0);
  pair.deliver_all();
  EXPECT_EQ(pair.counters(0).offers, 2U) << "bucket 1 and the telemetry";
  EXPECT_NE(pair.z(0), pair.z(1));
  pair.turn(0);
  EXPECT_EQ(pair.counters(0).offers, 2U) << "told again: nothing new";
  pair.standing[0].made_from = Standing::kNoBucket;
  pair.boundary(0);
  pair.deliver_all();
  EXPECT_EQ(pair.counters(0).offers, 3U) << "the boundary adds the rest, no sweep more";
  EXPECT_EQ(pair.counters(0).sweeps, 1U);
  EXPECT_EQ(pair.z(0), pair.z(1));
  EXPECT_NEAR(pair.sum(), kEnds, 1e-6);
}

TEST(Engine, a_sweep_of_an_earlier_step_goes_on_while_the_next_is_made) {
  EnginePair pair({.floats = 8, .bucket_floats = 2, .window = 1});
  pair.meet();
  pair.boundary(0);
  pair.standing[0].made_from = 4;  // the telemetry alone
  pair.turn(0);
  pair.deliver_all();
  EXPECT_EQ(pair.counters(0).sweeps, 1U);
  EXPECT_EQ(pair.z(0), pair.z(1));
}

TEST(Engine, whoever_settles_brings_all_of_what_was_begun_in_the_middle_of_a_step) {
  EnginePair pair;
  pair.meet();
  pair.standing[0].made_from = 1;
  pair.turn(0);
  pair.standing[0].wanted = WorkerState::kSettling;
  pair.deliver_all();
  EXPECT_EQ(pair.z(0), pair.z(1));
}

TEST(Engine, a_doubled_offer_and_a_doubled_reply_count_once) {
  EnginePair pair;
  pair.meet();
  pair.boundary(0);
  pair.wire.inject(0, pair.wire.front(0));
  // The copy arrives after the others: an old sequence number.
  pair.wire.deliver(0);
  pair.turn(1);
  EXPECT_EQ(pair.counters(1).duplicates, 1U);
  pair.wire.inject(1, pair.wire.front(1));
  pair.deliver_all();
  EXPECT_EQ(pair.counters(0).duplicates, 1U);
  EXPECT_EQ(pair.z(0), pair.z(1));
  EXPECT_NEAR(pair.sum(), kEnds, 1e-6);
}

/// A bucket of ours that is not finite is offered without values: the sequence has no gap, and both
/// ends see a crossing.
TEST(Engine, a_bucket_that_is_not_finite_holds_up_nothing) {
  for (const bool crossing : {false, true}) {
    SCOPED_TRACE(crossing);
    EnginePair pair;
    pair.meet();
    pair.x[0][0] = std::numeric_limits<float>::quiet_NaN();
    pair.boundary(0);
    if (crossing) pair.boundary(1);
    pair.deliver_all();
    pair.pass(1);
    EXPECT_GE(pair.pump(0).status().pump.own_non_finite, 1U);
    for (const Rank rank : {0, 1}) {
      EXPECT_EQ(pair.open_offers(rank), 0U);
      EXPECT_EQ(pair.counters(rank).gaps, 0U);
      EXPECT_EQ(pair.counters(rank).resynchronised, 1U) << "when the two met";
      EXPECT_TRUE(pair.pump(rank).status().flushed);
    }
    EXPECT_EQ(pair.z(1)[0], -2) << "nothing of it is mixed";
    EXPECT_EQ(pair.z(0)[2], pair.z(1)[2]) << "the other bucket is";
  }
}

TEST(Engine, a_gap_is_noticed_and_the_edge_synchronised_anew) {
  EnginePair pair;
  pair.meet();
  pair.boundary(0);
  pair.wire.swallow(0);
  pair.deliver_all();
  EXPECT_GE(pair.counters(1).gaps, 1U);
  EXPECT_GE(pair.counters(0).withdrawn, 1U);
  EXPECT_EQ(pair.z(0), pair.z(1));
  EXPECT_NEAR(pair.sum(), kEnds, 1e-6);
  EXPECT_EQ(pair.open_offers(0), 0U);
}

TEST(Engine, a_reply_that_does_not_come_is_sent_again_after_its_deadline) {
  EnginePair pair;
  pair.meet();
  pair.boundary(0);
  pair.wire.deliver(0);
  pair.turn(1);
  while (pair.wire.under_way(1) > 0) pair.wire.swallow(1);
  pair.pass(12);
  EXPECT_GE(pair.counters(0).resynchronised, 2U);
  EXPECT_EQ(pair.open_offers(0), 0U);
  EXPECT_EQ(pair.z(0), pair.z(1));
  EXPECT_NEAR(pair.sum(), kEnds, 1e-6);
}

/// Both ask, `first` and `second` frames of ranks 0 and 1 arrive, then the link breaks and returns.
class CutCrossing : public ::testing::TestWithParam<std::tuple<int, int, int>> {};

TEST_P(CutCrossing, keeps_the_sum_and_comes_to_agree) {
  const auto [first, second, order] = GetParam();
  EnginePair pair;
  pair.meet();
  pair.boundary(0);
  pair.boundary(1);
  const auto pass_on = [&](Rank from, int count) {
    pair.wire.deliver(from, static_cast<std::size_t>(count));
    pair.turn(1 - from);
  };
  if (order == 0) pass_on(0, first);
  pass_on(1, second);
  if (order == 1) pass_on(0, first);
  for (int again = 0; again < 2; ++again) {
    pair.wire.cut();
    pair.turn(0);
    pair.turn(1);
    pair.wire.connect();
    pair.turn(1);
    // The second time it breaks again during the synchronisation.
    for (int i = 0; again == 0 && i < 2 + second; ++i) {
      for (const Rank rank : {0, 1}) {
        pair.wire.deliver(rank, 1);
        pair.turn(1 - rank);
      }
    }
  }
  pair.deliver_all();
  EXPECT_NEAR(pair.sum(), kEnds, 1e-5);
  EXPECT_EQ(pair.counters(0).lost_in_flight + pair.counters(1).lost_in_flight, 0U);
  EXPECT_EQ(pair.counters(0).gaps + pair.counters(1).gaps, 0U);
  for (const Rank rank : {0, 1}) EXPECT_EQ(pair.open_offers(rank), 0U);
  for (int i = 0; i < 30; ++i) {
    pair.boundary(i % 2);
    pair.deliver_all();
  }
  EXPECT_NEAR(pair.sum(), kEnds, 1e-5);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(pair.z(0)[i], pair.z(1)[i], 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Orders, CutCrossing,
                         ::testing::Combine(::testing::Range(0, 4), ::testing::Range(0, 4),
                                            ::testing::Range(0, 2)));

TEST(Engine, who_settles_beside_one_that_still_trains_asks_it_now_and_then) {
  EnginePair pair;
  pair.meet();
  pair.standing[0].wanted = WorkerState::kSettling;
  const std::uint64_t before = pair.counters(0).sweeps;
  pair.pass(2);
  EXPECT_GE(pair.counters(0).sweeps, before + 5) << "it has to come nearer all the same";
  EXPECT_LE(pair.counters(0).sweeps, before + 21) << "asks without pause";
}

TEST(Engine, keeps_within_its_window) {
  EnginePair pair({.floats = 40, .bucket_floats = 2, .window = 3});
  pair.meet();
  pair.boundary(0);
  EXPECT_EQ(pair.wire.under_way(0), 3U);
  EXPECT_EQ(pair.open_offers(0), 3U);
  pair.deliver_all();
  EXPECT_EQ(pair.counters(0).offers, 21U);
  EXPECT_EQ(pair.counters(0).sweeps, 1U);
  EXPECT_EQ(pair.z(0), pair.z(1));
}

TEST(Engine, finding_what_to_ask_for_takes_as_long_for_a_large_model_as_for_a_small_one) {
  const auto looks_per_offer = [](std::size_t buckets) {
    EnginePair pair({.floats = buckets, .bucket_floats = 1, .window = 4});
    pair.meet();
    const std::uint64_t before = pair.counters(0).looked;
    for (int step = 0; step < 2; ++step) {
      pair.boundary(0);
      pair.boundary(1);
      pair.deliver_all();
    }
    EXPECT_GE(pair.counters(0).offers + pair.counters(1).offers, 2 * buckets);
    return static_cast<double>(pair.counters(0).looked - before) / static_cast<double>(buckets);
  };
  const double small = looks_per_offer(500);
  EXPECT_GT(small, 1);
  EXPECT_LT(looks_per_offer(2000), 1.5 * small);
}

TEST(Engine, without_room_for_more_replies_it_is_busy) {
  EnginePair pair({.floats = 40, .bucket_floats = 2, .window = 20, .retained_total = 5});
  pair.meet();
  pair.boundary(0);
  pair.wire.deliver(0);
  pair.turn(1);
  EXPECT_EQ(pair.counters(1).answers, 5U);
  EXPECT_EQ(pair.counters(1).declined, 11U);
  EXPECT_EQ(pair.edge(1).book.mixing, 5U) << "declines fill no room";
  pair.deliver_all();
  EXPECT_NEAR(pair.sum(), 20 * 41 - 80, 1e-3);
}

TEST(Engine, frozen_it_declines_and_changes_no_more) {
  EnginePair pair;
  pair.meet();
  pair.standing[1].wanted = WorkerState::kFrozen;
  pair.boundary(0);
  pair.turn(1);
  const auto before = pair.z(1);
  pair.deliver_all();
  EXPECT_EQ(pair.z(1), before);
  EXPECT_EQ(pair.counters(1).declined, 3U);
  EXPECT_NEAR(pair.sum(), kEnds, 1e-6);
  pair.boundary(0);
  pair.boundary(0);
  EXPECT_EQ(pair.counters(0).offers, 3U) << "a frozen neighbour is asked no more";
}

TEST(Engine, lock_step_pulls_for_a_later_round_wait_for_it) {
  EnginePair pair({.mode = "sync"});
  pair.meet();
  const auto codec = make_codec(kExact);
  const std::vector<double> telemetry = {0.0, 1.0};
  const auto publish = [&](Rank rank) {
    (void)pair.mixer(rank).publish(pair.x[rank], telemetry, *codec, 0.5);
    ++pair.standing[rank].round;
    pair.turn(rank);
  };
  publish(0);
  pair.deliver_all();
  EXPECT_EQ(pair.pump(0).status().completed_round, 0U);
  publish(1);
  pair.deliver_all();
  EXPECT_EQ(pair.pump(0).status().completed_round, 1U);
  EXPECT_EQ(pair.pump(1).status().completed_round, 1U);
  EXPECT_TRUE(pair.pump(0).status().neighbours_completed);
  std::vector<double> scalars(2);
  std::vector<float> x0(4), x1(4);
  pair.mixer(0).collect(x0, scalars);
  pair.mixer(1).collect(x1, scalars);
  EXPECT_EQ(x0, x1);
}

}  // namespace
}  // namespace stencil
