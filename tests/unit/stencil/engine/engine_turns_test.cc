// How the engine keeps turns: which offers it holds, for how long, and what counts as asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "stencil/engine/engine.h"

namespace stencil {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Rank 0 of ring:4, with two buckets of a model and telemetry, between neighbours played by the
/// test. It meets first() in its first turn and second() in its second.
class EngineTurns : public testing::Test {
 protected:
  EngineTurns() {
    EngineConfig config;
    config.stand(Topology::parse("ring:4"), 0);
    config.buckets = 3;
    config.grid.sweeps_per_mille = 2000;
    config.hello.generation = 1;
    engine_.emplace(config, neighbours_, now_);
    for (Neighbour& neighbour : neighbours_) {
      engine_->on_link_up(now_, neighbour.rank, out_);
      engine_->on_message(now_, neighbour.rank, from(neighbour.rank, config.hello), out_);
    }
    EXPECT_EQ(engine_->state(), WorkerState::kTraining);
    out_.clear();
  }

  [[nodiscard]] Rank first() const { return neighbours_.in_turn(0)->rank; }
  [[nodiscard]] Rank second() const { return neighbours_.in_turn(1)->rank; }
  [[nodiscard]] const Neighbour& edge(Rank rank) const { return neighbours_.at(rank); }

  Message from(Rank rank, MessageBody body) {
    Message message{.header = {}, .body = std::move(body)};
    message.header.from = rank;
    message.header.sender_epoch = 7;
    message.header.receiver_epoch = edge(rank).life.our_epoch;
    message.header.state = WorkerState::kTraining;
    message.header.number = ++said_;
    message.header.step = their_step_;
    return message;
  }
  void hear(Rank rank, MessageBody body) {
    engine_->on_message(now_, rank, from(rank, std::move(body)), out_);
    note();
  }
  void offer(Rank rank, std::uint32_t bucket, bool ahead = false) {
    const SequenceBook& book = edge(rank).book;
    const std::uint64_t sequence = book.answered + book.held.size() + 1;
    hear(rank, Offer{.sequence = sequence, .bucket = bucket, .ahead = ahead});
    const bool held = !book.held.empty() && book.held.back().offer().sequence == sequence;
    if (held) done_.push_back({kHold, rank, bucket});
  }
  void reply(Rank rank) {
    const OpenOffer& open = edge(rank).book.open.front();
    hear(rank, Reply{.sequence = open.sequence, .bucket = open.bucket, .divisor = 2});
  }
  void boundary(Pause pause) {
    engine_->on_pause(now_, pause, out_);
    note();
    engine_->on_boundary(now_, engine_->step() + 1, out_);
    note();
  }
  void pause(Pause what) {
    engine_->on_pause(now_, what, out_);
    note();
  }
  void tick() {
    engine_->on_tick(now_, out_);
    note();
  }

  /// Boundaries of this worker and both neighbours, a step of theirs `slower` times as long, the
  /// last one with a pause: the step after it is kept in turns.
  void steps_alike(std::uint64_t slower = 1) {
    for (std::uint64_t step = 1; step <= 3; ++step) {
      now_ += std::chrono::milliseconds(100);
      boundary(Pause::kSweeping);
      their_step_ = 1 + (step - 1) / slower;
      for (const Rank rank : {1, 3}) hear(rank, Heartbeat{});
      for (std::uint32_t bucket = 0; bucket < 3; ++bucket) {
        reply(first());
        reply(second());
      }
      pause(Pause::kNone);
    }
    done_.clear();
  }
  void made(std::uint32_t from) {
    engine_->on_made(now_, from, out_);
    note();
  }

  enum class Kind : std::uint8_t { kOffer, kHold, kAnswer, kDecline, kComplete };
  using enum Kind;
  struct Did {
    Kind kind;
    Rank rank;
    std::uint32_t bucket;
    bool operator==(const Did&) const = default;
  };
  /// The actions on buckets since the last call.
  std::vector<Did> did() { return std::exchange(done_, {}); }

  /// Carries out the engine's actions, as far as the engine notices.
  void note() {
    for (const Action& action : std::exchange(out_, {})) {
      if (const auto* offer = std::get_if<action::MakeOffer>(&action)) {
        engine_->on_offer_made(offer->to, offer->sequence, {}, out_);
        done_.push_back({kOffer, offer->to, offer->bucket});
      } else if (const auto* answer = std::get_if<action::Answer>(&action)) {
        done_.push_back({answer->divisor == 0 ? kDecline : kAnswer, answer->to,
                         answer->message.as<Offer>()->bucket});
      } else if (const auto* complete = std::get_if<action::Complete>(&action)) {
        done_.push_back({kComplete, complete->with, complete->ours.bucket});
      }
    }
  }

  TimePoint now_{};
  Actions out_;
  std::vector<Did> done_;
  std::uint64_t said_ = 0;
  std::uint64_t their_step_ = 0;
  Neighbours neighbours_;
  std::optional<Engine> engine_;
};

TEST_F(EngineTurns, a_bucket_is_offered_in_the_second_turn_when_the_first_has_brought_it) {
  boundary(Pause::kSweeping);
  EXPECT_THAT(did(), ElementsAre(Did{kOffer, first(), 0}, Did{kOffer, first(), 1},
                                 Did{kOffer, first(), 2}));
  reply(first());
  EXPECT_THAT(did(), ElementsAre(Did{kComplete, first(), 0}, Did{kOffer, second(), 0}));
}

TEST_F(EngineTurns, what_comes_before_its_turn_is_held_until_the_turns_before_have_been) {
  boundary(Pause::kGathering);
  offer(second(), 1);
  offer(second(), 0);
  EXPECT_THAT(did(), ElementsAre(Did{kHold, second(), 1}, Did{kHold, second(), 0}));
  offer(first(), 0);
  EXPECT_THAT(did(), ElementsAre(Did{kAnswer, first(), 0})) << "in their order: 1 comes before 0";
  offer(first(), 1);
  EXPECT_THAT(did(), ElementsAre(Did{kAnswer, first(), 1}, Did{kAnswer, second(), 1},
                                 Did{kAnswer, second(), 0}));
}

TEST_F(EngineTurns, what_the_neighbour_has_asked_for_in_its_turn_is_not_asked_for_again) {
  boundary(Pause::kGathering);
  offer(first(), 0);
  offer(first(), 2);
  offer(second(), 2);
  (void)did();
  pause(Pause::kSweeping);
  EXPECT_THAT(did(), ElementsAre(Did{kOffer, first(), 1}, Did{kOffer, second(), 0}));
  EXPECT_EQ(engine_->turns().unswept_at_begin(), 3U) << "bucket 1 of both, bucket 0 of the second";
}

TEST_F(EngineTurns, what_could_not_be_answered_after_all_is_asked_for) {
  boundary(Pause::kGathering);
  offer(first(), 0);
  EXPECT_THAT(did(), ElementsAre(Did{kAnswer, first(), 0}));
  engine_->on_answered(first(), {.sequence = 1, .bucket = 0, .status = ReplyStatus::kBusy}, out_);
  EXPECT_EQ(engine_->counters().answers, 0U);
  EXPECT_EQ(engine_->counters().declined, 1U);
  pause(Pause::kSweeping);
  const auto done = did();
  EXPECT_EQ(std::ranges::count(done, (Did{kOffer, first(), 0})), 1);
  EXPECT_EQ(std::ranges::count(done, (Did{kOffer, second(), 0})), 0) << "its turn is not over";
}

TEST_F(EngineTurns, nothing_is_held_longer_than_the_pause_lasts) {
  boundary(Pause::kSweeping);
  (void)did();
  offer(second(), 0);
  EXPECT_THAT(did(), ElementsAre(Did{kHold, second(), 0}));
  pause(Pause::kNone);
  EXPECT_THAT(did(), ElementsAre(Did{kAnswer, second(), 0}));
  offer(second(), 1);
  EXPECT_THAT(did(), ElementsAre(Did{kAnswer, second(), 1})) << "nor is anything in a step";
}

/// Several inputs may come before their actions are carried out, and holding has an end.
TEST_F(EngineTurns, an_offer_that_is_not_made_yet_crosses_nothing) {
  boundary(Pause::kGathering);
  offer(second(), 1);  // it waits for its turn, and what comes after it waits behind it
  offer(second(), 0);
  offer(first(), 0);
  (void)did();
  engine_->on_pause(now_, Pause::kSweeping, out_);
  now_ += std::chrono::hours(1);
  engine_->on_boundary(now_, engine_->step() + 1, out_);
  int offers = 0;
  for (const Action& action : out_) {
    const auto* offer = std::get_if<action::MakeOffer>(&action);
    if (offer == nullptr) continue;
    ++offers;
    EXPECT_NE(edge(offer->to).book.find_open(offer->sequence), nullptr) << offer->bucket;
  }
  EXPECT_GT(offers, 0);
  note();
  tick();
  EXPECT_THAT(edge(second()).book.held, IsEmpty()) << "once it is made they cross";
}

TEST_F(EngineTurns, turns_are_kept_from_the_first_part_that_is_made) {
  steps_alike();
  made(1);
  EXPECT_THAT(did(), ElementsAre(Did{kOffer, first(), 1}, Did{kOffer, first(), 2}));
  offer(second(), 2);
  EXPECT_THAT(did(), ElementsAre(Did{kHold, second(), 2}));
  reply(first());
  reply(first());
  EXPECT_THAT(did(), ElementsAre(Did{kComplete, first(), 1}, Did{kOffer, second(), 1},
                                 Did{kComplete, first(), 2}, Did{kAnswer, second(), 2}));
}

TEST_F(EngineTurns, what_shows_a_step_that_is_not_made_here_yet_is_held_until_it_is) {
  steps_alike();
  offer(first(), 1, true);
  EXPECT_THAT(did(), ElementsAre(Did{kHold, first(), 1})) << "nothing is made here";
  made(1);
  EXPECT_THAT(did(), ElementsAre(Did{kAnswer, first(), 1}, Did{kOffer, first(), 2},
                                 Did{kOffer, second(), 1}));
  offer(first(), 0, true);
  EXPECT_THAT(did(), ElementsAre(Did{kHold, first(), 0})) << "a part is made, but not this one";
  made(0);
  EXPECT_EQ(did().front(), (Did{kAnswer, first(), 0}));
}

TEST_F(EngineTurns, what_is_left_of_the_last_step_is_held_by_nobody_who_has_not_made_the_next) {
  steps_alike();
  offer(second(), 1);
  EXPECT_THAT(did(), ElementsAre(Did{kAnswer, second(), 1}));
  made(1);
  (void)did();
  offer(first(), 0);
  EXPECT_THAT(did(), ElementsAre(Did{kAnswer, first(), 0}));
}

TEST_F(EngineTurns, who_has_made_nothing_yet_keeps_nobody_waiting_for_long) {
  steps_alike();  // of 100 ms
  offer(first(), 1, true);
  EXPECT_THAT(did(), ElementsAre(Did{kHold, first(), 1}));
  const TimePoint until = engine_->next_deadline();
  EXPECT_EQ(until, now_ + Duration(std::chrono::milliseconds(100)) / 12);
  now_ = until;
  tick();
  EXPECT_THAT(did(), ElementsAre(Did{kAnswer, first(), 1}));
}

TEST_F(EngineTurns, an_offer_tells_whether_it_shows_the_step_under_way) {
  steps_alike();
  EXPECT_FALSE(engine_->turns().is_ahead(1));
  made(1);
  EXPECT_TRUE(engine_->turns().is_ahead(1));
  EXPECT_FALSE(engine_->turns().is_ahead(0));
  boundary(Pause::kGathering);
  EXPECT_FALSE(engine_->turns().is_ahead(1)) << "all have it now";
}

TEST_F(EngineTurns, what_has_not_been_asked_for_while_neighbours_come_is_answered_in_its_turn) {
  steps_alike();
  made(1);
  boundary(Pause::kGathering);
  (void)did();
  offer(first(), 0);
  EXPECT_THAT(did(), ElementsAre(Did{kAnswer, first(), 0}));
  pause(Pause::kSweeping);
  const auto done = did();
  EXPECT_EQ(std::ranges::count(done, (Did{kOffer, first(), 0})), 0) << "it has been met";
  EXPECT_EQ(std::ranges::count(done, (Did{kOffer, second(), 0})), 1);
}

TEST_F(EngineTurns, nobody_waits_for_the_parts_of_one_whose_steps_are_longer) {
  steps_alike(2);
  offer(first(), 1, true);
  EXPECT_THAT(did(), ElementsAre(Did{kAnswer, first(), 1}));
  made(1);
  (void)did();
  offer(first(), 0, true);
  EXPECT_THAT(did(), ElementsAre(Did{kAnswer, first(), 0}));
}

TEST_F(EngineTurns, none_are_kept_ahead_where_links_are_too_slow_to_pause_for) {
  steps_alike();
  boundary(Pause::kNone);
  for (std::uint32_t bucket = 0; bucket < 3; ++bucket) {
    reply(first());
    reply(second());
  }
  offer(first(), 1, true);
  made(1);
  offer(first(), 0, true);
  const auto done = did();
  EXPECT_EQ(std::ranges::count(done, kHold, &Did::kind), 0);
  EXPECT_EQ(std::ranges::count(done, kAnswer, &Did::kind), 2);
}

TEST_F(EngineTurns, nothing_is_held_so_long_that_its_reply_would_be_taken_for_lost) {
  boundary(Pause::kSweeping);
  offer(second(), 0);
  (void)did();
  for (const int passed : {2500, 2499}) {
    now_ += std::chrono::milliseconds(passed);
    for (const Rank rank : {1, 3}) hear(rank, Heartbeat{});
    tick();
    EXPECT_THAT(did(), IsEmpty());
  }
  EXPECT_EQ(engine_->next_deadline(), now_ + std::chrono::milliseconds(1));
  now_ += std::chrono::milliseconds(1);
  tick();
  EXPECT_THAT(did(), ElementsAre(Did{kAnswer, second(), 0}));
  offer(second(), 1);
  EXPECT_THAT(did(), ElementsAre(Did{kHold, second(), 1})) << "it has waited for nothing yet";
}

TEST_F(EngineTurns, who_trains_no_longer_holds_nothing) {
  boundary(Pause::kSweeping);
  offer(second(), 0);
  (void)did();
  engine_->on_state(now_, WorkerState::kFrozen, out_);
  note();
  EXPECT_THAT(did(), ElementsAre(Did{kDecline, second(), 0}));
}

TEST_F(EngineTurns, what_is_held_is_void_once_the_edge_is_synchronised_anew) {
  boundary(Pause::kSweeping);
  offer(second(), 0);
  (void)did();
  hear(second(), Offer{.sequence = 9});
  EXPECT_THAT(did(), IsEmpty());
  EXPECT_EQ(edge(second()).book.answered, 0U) << "as our Hello says: they withdraw it";
  EXPECT_THAT(edge(second()).book.held, IsEmpty());
}

TEST_F(EngineTurns, what_a_lost_link_has_brought_is_answered_and_the_answer_kept_for_it) {
  boundary(Pause::kSweeping);
  offer(second(), 0);
  (void)did();
  engine_->on_link_down(now_, second(), out_);
  note();
  EXPECT_THAT(did(), ElementsAre(Did{kAnswer, second(), 0}));
  EXPECT_EQ(edge(second()).book.answered, 1U);
}

TEST_F(EngineTurns, a_neighbour_that_dies_is_no_turn_to_wait_for) {
  boundary(Pause::kSweeping);
  offer(second(), 0);
  (void)did();
  engine_->on_link_down(now_, first(), out_);
  note();
  const auto done = did();
  EXPECT_EQ(std::ranges::count(done, (Did{kAnswer, second(), 0})), 1);
}

TEST_F(EngineTurns, whoever_offers_more_than_a_window_is_answered_out_of_turn) {
  boundary(Pause::kSweeping);
  (void)did();
  for (int i = 0; i < 1000; ++i) offer(second(), 0);
  EXPECT_LE(edge(second()).book.held.size(), 65U);
}

}  // namespace
}  // namespace stencil
