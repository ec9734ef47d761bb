#include "stencil/engine/turn_keeper.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "tests/support/engine_self.h"

namespace stencil {
namespace {

using std::chrono::milliseconds;

/// Rank 0 of ring:4, with three buckets, the last the telemetry's, and two sweeps a step: it meets
/// first() in its first turn and second() in its second.
class TurnKeeperTest : public testing::Test {
 protected:
  TurnKeeperTest() { lone_.self.config.grid.sweeps_per_mille = 2000; }
  [[nodiscard]] Neighbour& first() { return *lone_.neighbours.in_turn(0); }
  [[nodiscard]] Neighbour& second() { return *lone_.neighbours.in_turn(1); }
  void boundary(Pause pause) {
    lone_.pass(milliseconds(120));
    (void)turns_.on_pause(pause);
    turns_.on_boundary(lone_.now, lone_.self.step() + 1);
    turns_.plan();
    turns_.open_sweeps();
  }
  /// Steps of the same length here and there, so that turns are kept in the next.
  void steps_alike() {
    for (std::uint64_t step = 1; step <= 3; ++step) {
      boundary(Pause::kSweeping);
      for (const Rank rank : {1, 3}) lone_.they_step_to(rank, step);
      end_sweeps();
      (void)turns_.on_pause(Pause::kNone);
    }
  }
  void end_sweeps() {
    sweeps_.end_all(first());
    sweeps_.end_all(second());
  }
  [[nodiscard]] std::vector<const Neighbour*> planned() {
    std::vector<const Neighbour*> with;
    for (const Sweep& sweep : sweeps_.active()) with.push_back(sweep.neighbour);
    return with;
  }
  [[nodiscard]] HeldOffer offer(std::uint32_t bucket, bool ahead = false) const {
    return {{.header = {}, .body = Offer{.sequence = 1, .bucket = bucket, .ahead = ahead}},
            lone_.now};
  }
  bool holds(Neighbour& of, std::uint32_t bucket, bool ahead = false) {
    return turns_.must_hold(lone_.now, of, offer(bucket, ahead));
  }

  test::LoneSelf lone_{"ring:4"};
  SweepBook sweeps_{3, lone_.self.counters.looked};
  TurnKeeper turns_{lone_.self, sweeps_};
};

TEST_F(TurnKeeperTest, a_step_plans_its_sweeps_in_the_order_of_the_turns) {
  boundary(Pause::kSweeping);
  EXPECT_EQ(planned(), (std::vector<const Neighbour*>{&first(), &second()}));
  for (const Sweep& sweep : sweeps_.active()) EXPECT_TRUE(sweep.in_turn && turns_.may_offer(sweep));
  end_sweeps();
  boundary(Pause::kSweeping);
  EXPECT_EQ(planned(), (std::vector<const Neighbour*>{&first(), &second()}))
      << "each step begins with the first";
}

TEST_F(TurnKeeperTest, where_a_step_has_fewer_sweeps_than_turns_the_turns_go_on_from_step_to_step) {
  lone_.self.config.grid.sweeps_per_mille = 1000;
  SweepBook sweeps{3, lone_.self.counters.looked};
  TurnKeeper turns{lone_.self, sweeps};
  std::vector<const Neighbour*> with;
  for (std::uint64_t step = 1; step <= 3; ++step) {
    turns.on_boundary(lone_.now, step);
    turns.plan();
    ASSERT_EQ(sweeps.active().size(), 1U);
    with.push_back(sweeps.active().front().neighbour);
    sweeps.end_all(*sweeps.active().front().neighbour);
  }
  EXPECT_EQ(with, (std::vector<const Neighbour*>{&first(), &second(), &first()}));
}

TEST_F(TurnKeeperTest, a_turn_is_skipped_whose_partner_cannot_be_asked) {
  first().state = LinkState::kSuspect;
  boundary(Pause::kSweeping);
  for (const Neighbour* with : planned()) EXPECT_EQ(with, &second());
  EXPECT_FALSE(planned().empty());
}

TEST_F(TurnKeeperTest, a_partner_with_a_sweep_of_an_earlier_step_gets_no_other) {
  boundary(Pause::kSweeping);
  sweeps_.end_all(second());
  boundary(Pause::kSweeping);
  EXPECT_EQ(std::ranges::count(planned(), &first()), 1);
  EXPECT_EQ(std::ranges::count(planned(), &second()), 1);
}

TEST_F(TurnKeeperTest, no_sweep_of_a_boundary_begins_before_the_boundary_has_gathered) {
  boundary(Pause::kGathering);
  ASSERT_EQ(planned().size(), 2U);
  EXPECT_FALSE(turns_.may_offer(sweeps_.active().front()));
  EXPECT_TRUE(turns_.on_pause(Pause::kSweeping));
  EXPECT_FALSE(turns_.on_pause(Pause::kSweeping)) << "nothing new";
  turns_.open_sweeps();
  EXPECT_TRUE(turns_.may_offer(sweeps_.active().front()));
}

TEST_F(TurnKeeperTest, of_a_step_in_progress_what_is_ready_alone_may_be_asked_for) {
  EXPECT_FALSE(turns_.is_ahead(2));
  EXPECT_TRUE(turns_.on_made(1));
  EXPECT_FALSE(turns_.on_made(1)) << "nothing new";
  EXPECT_FALSE(turns_.on_made(2)) << "less than was ready";
  EXPECT_FALSE(turns_.is_ahead(0));
  EXPECT_TRUE(turns_.is_ahead(1));
  turns_.plan();
  turns_.open_sweeps();
  const Sweep& sweep = sweeps_.active().front();
  EXPECT_TRUE(turns_.is_ahead(sweep));
  EXPECT_EQ(turns_.first(sweep), 1U);
  turns_.on_boundary(lone_.now, 1);
  EXPECT_EQ(turns_.first(sweep), 0U) << "its step has been made";
  EXPECT_FALSE(turns_.is_ahead(2));
}

TEST_F(TurnKeeperTest, in_a_pause_an_offer_waits_for_the_turns_before_its_own) {
  boundary(Pause::kSweeping);
  EXPECT_FALSE(holds(first(), 0));
  EXPECT_TRUE(holds(second(), 0)) << "the first turn still has to bring this bucket";
  EXPECT_EQ(turns_.strike_exchanged(first(), 0), &sweeps_.active().front());
  EXPECT_FALSE(holds(second(), 0));
  EXPECT_TRUE(holds(second(), 1));
}

TEST_F(TurnKeeperTest, an_offer_is_held_no_longer_than_half_of_its_deadline) {
  boundary(Pause::kSweeping);
  const HeldOffer early = offer(0);
  lone_.pass(std::chrono::duration_cast<milliseconds>(lone_.self.config.reply_deadline / 2) -
             milliseconds(1));
  EXPECT_TRUE(turns_.must_hold(lone_.now, second(), early));
  lone_.pass(milliseconds(1));
  EXPECT_EQ(turns_.held_until(early), lone_.now);
  EXPECT_FALSE(turns_.must_hold(lone_.now, second(), early));
}

TEST_F(TurnKeeperTest, of_one_neighbour_only_so_many_offers_are_held) {
  boundary(Pause::kSweeping);
  EXPECT_TRUE(holds(second(), 0));
  for (int i = 0; i < 64; ++i) second().book.held.push_back(offer(0));
  EXPECT_FALSE(holds(second(), 0));
}

TEST_F(TurnKeeperTest, an_offer_of_a_step_that_is_not_made_here_yet_waits_a_twelfth_of_a_step) {
  steps_alike();
  EXPECT_FALSE(holds(first(), 0)) << "it shows no step that this bucket lacks";
  const HeldOffer ahead = offer(0, /*ahead=*/true);
  EXPECT_TRUE(turns_.must_hold(lone_.now, first(), ahead));
  EXPECT_EQ(turns_.held_until(ahead), lone_.now + milliseconds(10));
  lone_.pass(milliseconds(10));
  EXPECT_FALSE(turns_.must_hold(lone_.now, first(), ahead));
}

TEST_F(TurnKeeperTest, a_bucket_that_shows_the_step_already_keeps_nobody_of_that_step_waiting) {
  steps_alike();
  EXPECT_TRUE(holds(first(), 0, true));
  EXPECT_TRUE(turns_.on_made(0));
  EXPECT_FALSE(holds(first(), 0, true));
}

TEST_F(TurnKeeperTest, nobody_waits_for_a_worker_whose_steps_are_of_another_length) {
  steps_alike();
  first().report.steps.every = 2 * lone_.self.steps.every;
  EXPECT_FALSE(holds(first(), 0, true));
}

TEST_F(TurnKeeperTest, who_does_not_train_holds_nothing) {
  boundary(Pause::kSweeping);
  lone_.self.state = WorkerState::kSettling;
  EXPECT_FALSE(holds(second(), 0));
}

TEST_F(TurnKeeperTest, an_offer_that_crosses_one_not_made_yet_waits_whatever_the_time) {
  const HeldOffer theirs = offer(1);
  first().book.open.push_back({.sequence = 1, .bucket = 1});
  lone_.pass(std::chrono::hours(1));
  EXPECT_TRUE(turns_.must_hold(lone_.now, first(), theirs));
  first().book.open.front().made = true;
  EXPECT_FALSE(turns_.must_hold(lone_.now, first(), theirs));
}

TEST_F(TurnKeeperTest, what_they_have_asked_for_is_removed_from_our_sweep) {
  boundary(Pause::kSweeping);
  Sweep* const sweep = turns_.strike_exchanged(first(), 1);
  ASSERT_EQ(sweep, &sweeps_.active().front());
  EXPECT_FALSE(sweep->pending.contains(1));
  EXPECT_EQ(sweep->unasked, 2U);
  EXPECT_EQ(turns_.strike_exchanged(first(), 1), nullptr) << "once";
}

TEST_F(TurnKeeperTest, an_exchange_that_lacks_the_step_in_progress_counts_for_no_sweep_of_it) {
  EXPECT_TRUE(turns_.on_made(1));
  turns_.plan();
  turns_.open_sweeps();
  EXPECT_EQ(turns_.strike_exchanged(first(), 0), nullptr);
  EXPECT_NE(turns_.strike_exchanged(first(), 1), nullptr);
}

TEST_F(TurnKeeperTest, counts_what_a_boundary_waits_for) {
  boundary(Pause::kSweeping);
  turns_.note_unswept();
  EXPECT_EQ(turns_.unswept_at_begin(), 6U);
  (void)turns_.strike_exchanged(first(), 0);
  EXPECT_EQ(turns_.unswept(), 5U);
  EXPECT_EQ(turns_.unswept_at_begin(), 6U);
}

}  // namespace
}  // namespace stencil
