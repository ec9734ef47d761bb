#include "stencil/engine/handshake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/engine_self.h"

namespace stencil {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Heard = Handshake::Heard;

/// Rank 0 of ring:2 and its neighbour, which the test plays: no link of theirs was greeted yet.
class HandshakeTest : public testing::Test {
 protected:
  HandshakeTest() {
    Neighbour& neighbour = them();
    neighbour.state = LinkState::kConnecting;
    neighbour.life = {};
    lone_.self.config.topology = "ring:2";
    lone_.self.config.hello.run_id = "first";
    lone_.self.config.hello.topology = "ring:2";
    lone_.self.config.hello.generation = 1;
    handshake_.add(lone_.now, neighbour);
    handshake_.synchronise(lone_.now, neighbour, lone_.out);
    lone_.out.clear();
    hello_ = lone_.self.config.hello;
    hello_.generation = 5;
    hello_.life = {7, 7};
  }
  [[nodiscard]] Neighbour& them() { return lone_.at(1); }
  /// Their Hello, from their epoch to ours as they know it.
  Heard greet(std::uint32_t theirs, std::uint32_t ours) {
    Message message{.header = {}, .body = hello_};
    message.header.from = 1;
    message.header.sender_epoch = theirs;
    message.header.receiver_epoch = ours;
    message.header.state = WorkerState::kTraining;
    return handshake_.on_hello(lone_.now, them(), message, lone_.out);
  }
  Heard greet() { return greet(3, them().life.our_epoch); }
  bool admits(MessageBody body, std::uint32_t theirs, std::uint32_t ours) {
    Message message{.header = {}, .body = std::move(body)};
    message.header.sender_epoch = theirs;
    message.header.receiver_epoch = ours;
    return handshake_.admits(them(), message);
  }
  template <typename Body>
  std::vector<Body> said() {
    std::vector<Body> of_kind;
    for (const action::Send& send : lone_.done<action::Send>()) {
      if (const Body* const body = send.message.as<Body>()) of_kind.push_back(*body);
    }
    return of_kind;
  }

  test::LoneSelf lone_{"ring:2"};
  SweepBook sweeps_{lone_.self.config.buckets, lone_.self.counters.looked};
  TurnKeeper turns_{lone_.self, sweeps_};
  OfferExchange exchange_{lone_.self, sweeps_, turns_};
  Handshake handshake_{lone_.self, exchange_};
  Hello hello_;
};

TEST_F(HandshakeTest, an_edge_is_up_once_both_know_each_others_epoch) {
  EXPECT_EQ(greet(3, 0), Heard::kNothing) << "they do not know ours yet";
  EXPECT_EQ(said<Hello>().size(), 1U) << "so we tell them";
  EXPECT_FALSE(them().up());
  EXPECT_EQ(greet(), Heard::kSynchronised);
  EXPECT_TRUE(them().up());
  EXPECT_EQ(greet(), Heard::kAgain);
}

TEST_F(HandshakeTest, a_frame_counts_with_both_present_epochs_alone) {
  (void)greet();
  const std::uint32_t ours = them().life.our_epoch;
  EXPECT_TRUE(admits(Heartbeat{}, 3, ours));
  EXPECT_FALSE(admits(Heartbeat{}, 3, ours - 1));
  EXPECT_FALSE(admits(Heartbeat{}, 2, ours));
  EXPECT_EQ(lone_.self.counters.stale_frames, 2U);
  EXPECT_TRUE(admits(Leave{}, 3, 0)) << "who leaves may never learn ours";
  handshake_.synchronise(lone_.now, them(), lone_.out);
  EXPECT_FALSE(admits(Heartbeat{}, 3, ours)) << "it was of the connection before";
}

TEST_F(HandshakeTest, an_earlier_epoch_of_theirs_changes_nothing) {
  (void)greet(8, them().life.our_epoch);
  EXPECT_EQ(greet(7, them().life.our_epoch), Heard::kNothing);
  EXPECT_EQ(them().life.their_epoch, 8U);
  EXPECT_TRUE(them().up());
  EXPECT_EQ(greet(9, them().life.our_epoch), Heard::kSynchronised);
}

TEST_F(HandshakeTest, a_later_life_ends_what_was_under_way_with_the_one_before) {
  (void)greet();
  them().book.open.push_back(OpenOffer{.sequence = 1, .parked = true});
  hello_.generation = 6;
  hello_.life = {8, 8};
  EXPECT_EQ(greet(1, 0), Heard::kNothing);
  EXPECT_THAT(them().book.open, IsEmpty());
  EXPECT_EQ(lone_.self.counters.lost_in_flight, 1U);
  EXPECT_EQ(greet(1, them().life.our_epoch), Heard::kSynchronised);
  EXPECT_EQ(them().life.generation, 6U);
}

TEST_F(HandshakeTest, an_earlier_life_is_told_to_greet_with_a_higher_generation) {
  (void)greet();
  (void)said<Hello>();
  hello_.generation = 4;
  hello_.life = {8, 8};
  EXPECT_EQ(greet(1, 0), Heard::kNothing);
  const auto asked = said<HelloRequest>();
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].known, 5U);
  EXPECT_TRUE(them().up());
}

TEST_F(HandshakeTest, so_do_we_where_they_know_a_later_one_of_us) {
  handshake_.on_hello_request(lone_.now, them(), {.known = 41}, lone_.out);
  const auto hellos = said<Hello>();
  ASSERT_EQ(hellos.size(), 1U);
  EXPECT_EQ(hellos[0].generation, 42U);
}

TEST_F(HandshakeTest, while_a_life_is_up_and_sends_no_other_takes_its_place) {
  (void)greet();
  Hello other = hello_;
  other.life = {8, 8};
  EXPECT_FALSE(handshake_.taken(lone_.now, them(), hello_)) << "it is the same one";
  const auto refusal = handshake_.taken(lone_.now, them(), other);
  ASSERT_TRUE(refusal);
  EXPECT_TRUE(refusal->taken);
  EXPECT_THAT(refusal->text, HasSubstr("rank 1 is already here"));
  lone_.pass(std::chrono::seconds(3));
  EXPECT_FALSE(handshake_.taken(lone_.now, them(), other)) << "it has been silent";
}

TEST_F(HandshakeTest, another_run_is_refused_and_learns_no_value_of_ours) {
  hello_.run_id = "second";
  EXPECT_EQ(greet(), Heard::kNothing);
  EXPECT_EQ(them().state, LinkState::kRefused);
  EXPECT_EQ(lone_.self.counters.refusals, 1U);
  const auto refusals = said<Refusal>();
  ASSERT_EQ(refusals.size(), 1U);
  EXPECT_THAT(refusals[0].text, HasSubstr("run"));
  EXPECT_THAT(refusals[0].text, ::testing::Not(HasSubstr("first")));
}

TEST_F(HandshakeTest, who_refused_us_is_greeted_again_soon_where_the_grid_has_changed) {
  handshake_.on_refusal(lone_.now, them(), {.text = "rank 0 is no neighbour"}, lone_.out);
  const auto pause = [this] { return handshake_.repeat_at(them()) - them().times.hello_sent; };
  EXPECT_EQ(pause(), lone_.self.config.gone_after);
  lone_.self.config.grid.version = 1;
  EXPECT_EQ(pause(), lone_.self.config.heartbeat_every);
}

TEST_F(HandshakeTest, a_rank_that_is_taken_may_be_our_own_life_before_for_a_while) {
  const Refusal taken{.text = "rank 0 is already here", .taken = true};
  handshake_.on_refusal(lone_.now, them(), taken, lone_.out);
  EXPECT_TRUE(lone_.done<action::Refused>().empty());
  lone_.pass(std::chrono::seconds(6));
  handshake_.on_refusal(lone_.now, them(), taken, lone_.out);
  EXPECT_EQ(lone_.done<action::Refused>().size(), 1U);
}

TEST_F(HandshakeTest, an_unanswered_hello_is_repeated_and_a_refused_one_seldom) {
  const TimePoint due = handshake_.repeat_at(them());
  EXPECT_EQ(due, lone_.now + lone_.self.config.hello_every);
  handshake_.repeat(lone_.now, them(), lone_.out);
  EXPECT_TRUE(lone_.out.empty()) << "not yet";
  lone_.now = due;
  handshake_.repeat(lone_.now, them(), lone_.out);
  EXPECT_EQ(said<Hello>().size(), 1U);
  them().state = LinkState::kRefused;
  EXPECT_EQ(handshake_.repeat_at(them()), lone_.now + lone_.self.config.gone_after);
}

TEST_F(HandshakeTest, who_leaves_takes_all_that_was_under_way_along) {
  (void)greet();
  handshake_.leave(lone_.now, them(), Leave{}, lone_.out);
  EXPECT_EQ(said<Leave>().size(), 1U);
  EXPECT_EQ(them().state, LinkState::kLeft);
  EXPECT_FALSE(them().up());
}

TEST_F(HandshakeTest, a_newcomer_again_greets_as_a_later_life) {
  (void)greet();
  (void)said<Hello>();
  handshake_.start_over(lone_.now, them(), lone_.out);
  const auto hellos = said<Hello>();
  ASSERT_EQ(hellos.size(), 1U);
  EXPECT_EQ(hellos[0].generation, 2U);
  EXPECT_FALSE(them().up());
}

}  // namespace
}  // namespace stencil
