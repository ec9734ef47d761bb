#include "stencil/engine/offer_exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/engine_self.h"

namespace stencil {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Rank 0 of ring:2 and its neighbour, with three buckets, the last the telemetry's.
class OfferExchangeTest : public testing::Test {
 protected:
  [[nodiscard]] Neighbour& them() { return lone_.at(1); }
  SequenceBook& book() { return them().book; }
  /// Begins a sweep and offers as many buckets as the windows allow; all of them are made.
  std::vector<action::MakeOffer> ask() {
    sweeps_.earn(1000);
    sweeps_.begin(them(), false);
    return go_on();
  }
  std::vector<action::MakeOffer> go_on() {
    sweeps_.set_rules(false, 0);
    exchange_.issue(lone_.now, sweeps_.active().front(), lone_.out);
    for (OpenOffer& open : book().open) {
      open.made = true;
      open.payload = Payload(Bytes(4));
    }
    return lone_.done<action::MakeOffer>();
  }
  bool offer(std::uint64_t sequence, std::uint32_t bucket, bool values = true) {
    Offer offer{.sequence = sequence, .bucket = bucket};
    if (values) offer.payload = Payload(Bytes(4));
    return exchange_.on_offer(lone_.now, them(), {.header = {}, .body = offer}, lone_.out);
  }
  void reply(std::uint64_t sequence, std::uint32_t bucket,
             ReplyStatus status = ReplyStatus::kDelta) {
    const Reply reply{.sequence = sequence, .bucket = bucket, .status = status};
    exchange_.on_reply(lone_.now, them(), {.header = {}, .body = reply}, lone_.out);
  }

  std::vector<std::uint32_t> closed() {
    std::vector<std::uint32_t> buckets;
    exchange_.take_closed(buckets);
    return buckets;
  }
  void decline(std::uint64_t sequence, std::uint32_t bucket) {
    const Reply busy{.sequence = sequence, .bucket = bucket, .status = ReplyStatus::kBusy};
    exchange_.on_answered(them(), busy, lone_.out);
  }

  test::LoneSelf lone_{"ring:2"};
  EngineCounters& counters_ = lone_.self.counters;
  SweepBook sweeps_{lone_.self.config.buckets, counters_.looked};
  TurnKeeper turns_{lone_.self, sweeps_};
  OfferExchange exchange_{lone_.self, sweeps_, turns_};
};

TEST_F(OfferExchangeTest, a_sweep_offers_each_bucket_once_and_ends_with_the_last_reply) {
  const auto made = ask();
  ASSERT_EQ(made.size(), 3U);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(made[i].sequence, i + 1);
  for (std::uint32_t i = 0; i < 3; ++i) reply(i + 1, made[i].bucket);
  EXPECT_EQ(lone_.done<action::Complete>().size(), 3U);
  EXPECT_EQ(counters_.sweeps, 1U);
  EXPECT_THAT(book().open, IsEmpty());
}

TEST_F(OfferExchangeTest, a_window_bounds_what_is_open) {
  lone_.self.config.window = 2;
  EXPECT_EQ(ask().size(), 2U);
  reply(1, 0);
  EXPECT_EQ(go_on().size(), 1U);
  lone_.self.config.window = 9;
  lone_.self.config.window_total = 2;
  EXPECT_FALSE(exchange_.has_room());
}

TEST_F(OfferExchangeTest, each_offer_of_theirs_is_answered_once_and_in_order) {
  EXPECT_TRUE(offer(1, 0));
  EXPECT_TRUE(offer(1, 0)) << "which was answered already";
  EXPECT_EQ(counters_.duplicates, 1U);
  EXPECT_FALSE(offer(3, 1)) << "the second is missing";
  EXPECT_EQ(counters_.gaps, 1U);
  EXPECT_TRUE(offer(2, 1));
  const auto answers = lone_.done<action::Answer>();
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].divisor, 2);
  EXPECT_EQ(book().answered, 2U);
}

TEST_F(OfferExchangeTest, offers_of_one_bucket_that_cross_are_merged_at_both_ends) {
  (void)ask();
  EXPECT_TRUE(offer(1, 1));
  const auto merges = lone_.done<action::Merge>();
  ASSERT_EQ(merges.size(), 1U);
  EXPECT_EQ(merges[0].ours.bucket, 1U);
  EXPECT_EQ(merges[0].ours.sequence, 2U);
  EXPECT_EQ(book().find_open(2), nullptr);
  reply(2, 1);
  EXPECT_EQ(counters_.duplicates, 1U) << "a reply to it would be one too many";
}

TEST_F(OfferExchangeTest, a_crossing_without_values_moves_nothing_and_frees_the_bucket) {
  (void)ask();
  EXPECT_TRUE(offer(1, 1, false));
  EXPECT_TRUE(lone_.done<action::Merge>().empty());
  EXPECT_THAT(closed(), ElementsAre(1U));
}

TEST_F(OfferExchangeTest, nothing_is_mixed_before_or_after_training_and_they_are_told_why) {
  for (const auto& [state, why] : {std::pair{WorkerState::kJoining, ReplyStatus::kBusy},
                                   std::pair{WorkerState::kFrozen, ReplyStatus::kFrozen}}) {
    lone_.self.state = state;
    offer(book().answered + 1, 0);
    const auto answers = lone_.done<action::Answer>();
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].divisor, 0);
    EXPECT_EQ(answers[0].status, why);
  }
}

TEST_F(OfferExchangeTest, a_reply_of_another_bucket_is_a_violation_and_changes_nothing) {
  (void)ask();
  reply(1, 2);
  EXPECT_EQ(counters_.violations, 1U);
  EXPECT_NE(book().find_open(1), nullptr);
  reply(99, 0);
  EXPECT_EQ(counters_.duplicates, 1U);
}

TEST_F(OfferExchangeTest, what_a_silent_neighbour_may_have_answered_stays_but_holds_up_no_bucket) {
  (void)ask();
  exchange_.park(them());
  EXPECT_EQ(book().open.size(), 3U);
  EXPECT_EQ(closed().size(), 3U);
  EXPECT_TRUE(exchange_.has_room());
  for (std::uint32_t bucket = 0; bucket < 3; ++bucket) {
    EXPECT_FALSE(sweeps_.buckets().is_open(bucket));
  }
  reply(1, 0);
  EXPECT_EQ(lone_.done<action::Complete>().size(), 1U) << "it had been answered";
}

TEST_F(OfferExchangeTest, a_synchronised_edge_asks_again_for_what_never_arrived) {
  (void)ask();
  Hello hello;
  hello.last_answered = 1;
  exchange_.take_counters(them(), hello, lone_.out);
  EXPECT_EQ(counters_.withdrawn, 2U);
  EXPECT_EQ(book().open.size(), 1U) << "its reply is on the way";
  const auto again = go_on();
  ASSERT_EQ(again.size(), 2U);
  EXPECT_EQ(again[0].sequence, 2U);
}

TEST_F(OfferExchangeTest, an_answer_is_kept_until_it_is_applied_and_sent_again_until_then) {
  offer(1, 0);
  offer(2, 1);
  lone_.out.clear();
  book().answer_to(1).message.body = Reply{.sequence = 1};
  book().answer_to(2).message.body = Reply{.sequence = 2};
  exchange_.release(them(), 1);
  Hello hello;
  hello.last_completed = 1;
  exchange_.take_counters(them(), hello, lone_.out);
  const auto sent = lone_.done<action::Send>();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].message.as<Reply>()->sequence, 2U);
  exchange_.release(them(), 99);
  EXPECT_EQ(book().released, 2U) << "no more than was answered";
}

TEST_F(OfferExchangeTest, with_another_life_what_was_under_way_is_lost_and_counted) {
  (void)ask();
  offer(1, 1, false);
  offer(2, 2);
  exchange_.reset(them());
  EXPECT_GT(counters_.lost_in_flight, 0U);
  EXPECT_THAT(book().open, IsEmpty());
  EXPECT_EQ(book().answered, 0U);
  std::vector<Rank> lost;
  for (int i = 0; i < 2; ++i) exchange_.take_lost(lost);
  EXPECT_THAT(lost, ElementsAre(them().rank)) << "the runtime is told once";
  EXPECT_TRUE(exchange_.has_room());
}

TEST_F(OfferExchangeTest, what_could_not_be_mixed_counts_as_declined) {
  offer(1, 0);
  EXPECT_EQ(counters_.answers, 1U);
  decline(1, 0);
  EXPECT_EQ(counters_.answers, 0U);
  EXPECT_EQ(counters_.declined, 1U);
  decline(1, 0);
  EXPECT_EQ(counters_.declined, 1U) << "once";
}

TEST_F(OfferExchangeTest, a_bucket_that_there_is_not_is_a_violation) {
  EXPECT_TRUE(offer(1, 3));
  EXPECT_EQ(counters_.violations, 1U);
  EXPECT_TRUE(lone_.out.empty());
}

}  // namespace
}  // namespace stencil
