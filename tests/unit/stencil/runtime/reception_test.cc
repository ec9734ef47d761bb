#include "stencil/runtime/reception.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/support/lone_engine.h"

namespace stencil {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr LinkId kLink = 5;   // that serves no edge yet
constexpr LinkId kOther = 6;  // that serves one

/// Rank 0 of ring:4: its neighbours are ranks 1 and 3.
class ReceptionTest : public testing::Test {
 protected:
  ReceptionTest() { use(/*keys=*/false); }
  void use(bool keys) {
    reception_.emplace(keys, lone_.engine, links_, transport_, complaints_, counters_);
  }
  Edge* hear(Rank rank, MessageBody body) {
    Message message{.header = {.from = rank}, .body = std::move(body)};
    return reception_->hear(lone_.now, kLink, message);
  }
  [[nodiscard]] bool may_send(Rank rank, MessageBody body, std::optional<Rank> proven) {
    return reception_->may_send(kLink, {.header = {.from = rank}, .body = std::move(body)}, proven);
  }
  /// The text of the one refusal sent; "" where there is none.
  std::string refusal() {
    const auto refusals = transport_.sent_of<Refusal>();
    EXPECT_LE(refusals.size(), 1U);
    return refusals.empty() ? "" : refusals[0].text;
  }

  test::LoneEngine lone_{"ring:4"};
  test::KeptFrames transport_;
  std::vector<std::string> log_;
  PumpCounters counters_;
  Complaints complaints_{[this](LogLevel, std::string_view text) { log_.emplace_back(text); }};
  LinkBook links_{0, lone_.edges, transport_, [](Rank) { return std::vector<PeerAddress>(); },
                  [](LogLevel, std::string_view) {}};
  std::optional<Reception> reception_;
};

TEST_F(ReceptionTest, a_neighbour_that_greets_is_served_by_its_link) {
  EXPECT_EQ(hear(1, lone_.hello()), &lone_.at(1));
  EXPECT_EQ(links_.served_by(kLink), &lone_.at(1));
  EXPECT_THAT(transport_.sent(), IsEmpty()) << "the engine greets";
  EXPECT_THAT(log_, IsEmpty());
}

TEST_F(ReceptionTest, who_is_no_neighbour_is_refused_counted_and_named_once) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(hear(2, lone_.hello()), nullptr);
    // Whose place it is, is told where keys are in use alone.
    EXPECT_EQ(refusal(), "rank 2 is no neighbour; check the rank and the peer's address");
  }
  EXPECT_EQ(links_.served_by(kLink), nullptr);
  EXPECT_EQ(counters_.unknown_senders, 2U);
  EXPECT_THAT(log_, ElementsAre(HasSubstr("rank 2 is no neighbour of ours")));
}

TEST_F(ReceptionTest, a_stranger_of_another_run_learns_nothing_of_ours) {
  Hello hello = lone_.hello();
  hello.run_id = "another";
  EXPECT_EQ(hear(2, hello), nullptr);
  EXPECT_THAT(refusal(), Not(HasSubstr("ring:4")));
  EXPECT_EQ(hear(1, hello), nullptr);
  EXPECT_THAT(refusal(), HasSubstr("is not told"));
}

TEST_F(ReceptionTest, a_stranger_that_does_not_greet_gets_no_answer) {
  EXPECT_EQ(hear(2, Heartbeat{}), nullptr);
  EXPECT_THAT(transport_.sent(), IsEmpty());
  EXPECT_EQ(counters_.unknown_senders, 1U);
}

TEST_F(ReceptionTest, a_neighbour_of_another_mode_is_refused_and_what_differs_is_kept) {
  Hello hello = lone_.hello();
  hello.mode = "sync";
  EXPECT_EQ(hear(1, hello), nullptr);
  EXPECT_THAT(refusal(), HasSubstr("mode differs"));
  EXPECT_THAT(reception_->turned_away(), HasSubstr("who says it is rank 1: mode differs"));
  hello.mode = "bounded:2";
  EXPECT_EQ(hear(3, hello), nullptr);
  EXPECT_THAT(reception_->turned_away(), HasSubstr("rank 1")) << "the first";
  EXPECT_THAT(log_, SizeIs(2));
}

TEST_F(ReceptionTest, a_neighbour_that_speaks_before_it_greets_is_asked_to_greet) {
  EXPECT_EQ(hear(1, Heartbeat{}), nullptr);
  EXPECT_THAT(transport_.sent_of<HelloRequest>(), SizeIs(1));
  EXPECT_EQ(hear(1, HelloRequest{}), nullptr);
  EXPECT_THAT(transport_.sent(), IsEmpty()) << "or two who know nothing of each other never end";
}

TEST_F(ReceptionTest, a_refusal_about_a_term_is_answered_once_with_our_value) {
  EXPECT_EQ(hear(1, Refusal{.text = "7", .term = "seed"}), nullptr);
  const auto answers = transport_.sent_of<Refusal>();
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_TRUE(answers[0].answer);
  EXPECT_EQ(answers[0].term, "seed");
  EXPECT_EQ(hear(1, Refusal{.text = "7", .term = "seed", .answer = true}), nullptr);
  EXPECT_THAT(transport_.sent(), IsEmpty());
  EXPECT_THAT(reception_->turned_away(), HasSubstr("refused on another link: seed differs"));
}

TEST_F(ReceptionTest, while_a_life_of_its_rank_is_up_another_process_is_refused) {
  lone_.meet(1, kOther);
  ASSERT_TRUE(lone_.at(1).neighbour.up());
  EXPECT_EQ(hear(1, lone_.hello(2)), nullptr);
  const auto refusals = transport_.sent_of<Refusal>();
  ASSERT_THAT(refusals, SizeIs(1));
  EXPECT_TRUE(refusals[0].taken);
  EXPECT_THAT(refusals[0].text, HasSubstr("rank 1 is already here"));
  lone_.now += lone_.engine.config().suspect_after;
  EXPECT_EQ(hear(1, lone_.hello(2)), &lone_.at(1)) << "the life before is silent";
}

TEST_F(ReceptionTest, without_keys_anybody_may_speak) {
  EXPECT_TRUE(may_send(1, Heartbeat{}, std::nullopt));
  EXPECT_EQ(counters_.unproven, 0U);
}

TEST_F(ReceptionTest, with_keys_only_who_has_proven_a_rank_speaks_for_it) {
  use(/*keys=*/true);
  EXPECT_TRUE(may_send(1, lone_.hello(), 1));
  EXPECT_FALSE(may_send(1, lone_.hello(), std::nullopt));
  EXPECT_THAT(transport_.sent(), IsEmpty()) << "who has proven nothing is told nothing";
  EXPECT_FALSE(may_send(1, Heartbeat{}, 3));
  EXPECT_THAT(transport_.sent(), IsEmpty());
  EXPECT_FALSE(may_send(1, lone_.hello(), 3));
  EXPECT_THAT(refusal(), HasSubstr("rank 1 was said with rank 3's key"));
  EXPECT_EQ(counters_.unproven, 3U);
  EXPECT_THAT(log_, ElementsAre(HasSubstr("has proven no key of this run"),
                                HasSubstr("who speaks for rank 1 has rank 3's key")));
}

}  // namespace
}  // namespace stencil
