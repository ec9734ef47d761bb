// Where keys are in use, a message counts only on a link whose other end has proven its sender's
// key.
#include <gmock/gmock.h>

#include "tests/support/engine_pair.h"

namespace stencil {
namespace {

using test::EnginePair;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::uint64_t unproven(EnginePair& pair, Rank rank) {
  return pair.pump(rank).status().pump.unproven;
}

TEST(Proof, two_who_have_proven_their_ranks_exchange) {
  EnginePair pair({.keys = true});
  const double before = pair.sum();
  pair.meet();
  pair.boundary(0);
  pair.deliver_all();
  EXPECT_TRUE(pair.edge(0).up());
  EXPECT_TRUE(pair.edge(1).up());
  EXPECT_EQ(pair.z(0), pair.z(1));
  EXPECT_EQ(pair.sum(), before);
  EXPECT_EQ(unproven(pair, 0) + unproven(pair, 1), 0U);
}

/// What the link's cipher has authenticated needs no checksum; elsewhere nothing is taken without.
TEST(Proof, payloads_go_without_a_checksum_where_and_only_where_keys_are_in_use) {
  for (const bool keys : {true, false}) {
    SCOPED_TRACE(keys);
    EnginePair pair({.keys = keys});
    pair.meet();
    pair.boundary(0);
    std::uint64_t payloads = 0;
    for (std::size_t left = pair.wire.under_way(0); left > 0; --left) {
      const Frame frame = pair.wire.front_frame(0);
      const Message message = decode_frame(frame, Integrity::kProven).value();
      payloads += frame.payload ? 1 : 0;
      EXPECT_EQ(decode_frame(frame).ok(), !keys || !frame.payload);
      // The other way about: a checksum is welcome on each link, and its lack is not.
      pair.wire.swallow(0);
      pair.wire.inject(0, message, keys ? Integrity::kChecksum : Integrity::kProven);
    }
    ASSERT_GT(payloads, 0U);
    const auto before = pair.z(1);
    pair.wire.deliver(0);
    pair.turn(1);
    EXPECT_EQ(pair.pump(1).status().pump.checksum, keys ? 0 : payloads);
    EXPECT_EQ(pair.z(1) == before, !keys);
  }
}

TEST(Proof, without_keys_nobody_has_to_prove_anything) {
  EnginePair pair;
  pair.wire.proven[0] = pair.wire.proven[1] = std::nullopt;
  pair.meet();
  EXPECT_TRUE(pair.edge(0).up());
  EXPECT_TRUE(pair.edge(1).up());
}

TEST(Proof, who_answers_a_dial_without_a_proof_is_told_nothing) {
  EnginePair pair({.sharing = true, .keys = true});
  pair.wire.proven[0] = std::nullopt;
  pair.wire.connect();
  pair.turn(1);
  EXPECT_EQ(pair.wire.under_way(1), 0U) << "a hello holds the way to our memory";
  EXPECT_EQ(unproven(pair, 1), 1U);
  EXPECT_THAT(pair.log(1), ElementsAre(HasSubstr("has proven no key of this run")));
}

TEST(Proof, who_dials_without_a_proof_is_refused_counted_and_named_once) {
  EnginePair pair({.sharing = true, .keys = true});
  pair.wire.proven[1] = std::nullopt;
  pair.meet();
  pair.pass(4);
  EXPECT_FALSE(pair.edge(0).up());
  EXPECT_TRUE(pair.pump(0).edges().at(1).memory.token.empty());
  EXPECT_EQ(pair.wire.under_way(0), 0U);
  EXPECT_GT(unproven(pair, 0), 1U);
  EXPECT_THAT(pair.log(0), ElementsAre(HasSubstr("has proven no key of this run")));
}

TEST(Proof, who_says_another_rank_than_its_key_is_refused_and_told) {
  EnginePair pair({.keys = true});
  pair.wire.proven[1] = 0;
  pair.meet();
  EXPECT_FALSE(pair.edge(0).up());
  EXPECT_THAT(pair.log(0), ElementsAre(HasSubstr("who speaks for rank 1 has rank 0's key")));
  EXPECT_THAT(pair.pump(1).status().refused, HasSubstr("rank 1 was said with rank 0's key"));
}

TEST(Proof, a_key_that_is_taken_back_speaks_for_nobody_from_then_on) {
  EnginePair pair({.keys = true});
  pair.meet();
  pair.boundary(0);
  pair.wire.deliver(0);
  pair.turn(1);
  const auto before = pair.z(0);
  pair.wire.proven[1] = std::nullopt;
  pair.deliver_all();
  EXPECT_EQ(pair.z(0), before) << "a reply of an unproven link was taken";
  EXPECT_GT(unproven(pair, 0), 0U);
  EXPECT_EQ(pair.pump(0).edges().at(1).link.in_service, 0U);
  (void)pair.wire.deliver(0);
  pair.pass(2);
  EXPECT_EQ(pair.wire.under_way(0), 0U) << "it was told something still";
}

TEST(Proof, a_message_in_anothers_name_on_a_proven_link_changes_nothing) {
  EnginePair pair({.keys = true});
  pair.meet();
  pair.boundary(0);
  Message lie = pair.wire.front(0);
  lie.header.from = 1;
  pair.deliver_all();
  const auto before = pair.z(1);
  pair.wire.inject(0, lie);
  pair.deliver_all();
  EXPECT_EQ(pair.z(1), before);
  EXPECT_EQ(unproven(pair, 1), 1U);
  EXPECT_THAT(pair.log(1), ElementsAre(HasSubstr("who speaks for rank 1 has rank 0's key")));
}

TEST(Proof, a_stranger_is_told_what_differs_and_no_value_of_ours) {
  EnginePair pair;
  Hello hello = pair.pump(1).engine().config().hello;
  hello.run_id = "theirs";
  Message stranger{.header = {.from = 1}, .body = hello};
  pair.wire.connect();
  pair.wire.inject(1, stranger);
  pair.wire.deliver(1);
  pair.turn(0);
  EXPECT_THAT(pair.wire.front(0).as<Refusal>()->text,
              ::testing::StartsWith("run id differs: ours 'theirs', theirs is not told; "));
  EXPECT_THAT(pair.log(0), ElementsAre(HasSubstr("ours 'pair', theirs 'theirs'")));

  pair.wire.swallow(0);
  stranger.header.from = 7;
  pair.wire.inject(1, stranger);
  pair.wire.deliver(1);
  pair.turn(0);
  EXPECT_THAT(pair.wire.front(0).as<Refusal>()->text,
              "rank 7 is no neighbour; check the rank and the peer's address");
}

/// The usual run id is no secret.
TEST(Proof, who_says_the_right_run_id_and_proves_nothing_is_a_stranger_too) {
  EnginePair pair;
  Hello hello = pair.pump(1).engine().config().hello;
  hello.topology = "ring:9";
  hello.mode = "bounded:2";
  Message stranger{.header = {.from = 1}, .body = hello};
  pair.wire.connect();
  pair.wire.inject(1, stranger);
  pair.wire.deliver(1);
  pair.turn(0);
  EXPECT_THAT(pair.wire.front(0).as<Refusal>()->text,
              ::testing::StartsWith("topology differs: ours ring:9, theirs is not told; "));
  pair.wire.swallow(0);
  stranger.header.from = 7;
  pair.wire.inject(1, stranger);
  pair.wire.deliver(1);
  pair.turn(0);
  EXPECT_THAT(pair.wire.front(0).as<Refusal>()->text,
              "rank 7 is no neighbour; check the rank and the peer's address");
}

}  // namespace
}  // namespace stencil
