// Messages of a neighbour that no worker of this program sends: counted, and without effect.
#include <gtest/gtest.h>

#include "stencil/mix/codecs/kinds.h"
#include "tests/support/engine_pair.h"

namespace stencil {
namespace {

using test::EnginePair;

/// Rank 1's reply to an offer of rank 0.
Message answer_to(const Message& offer, Reply reply) {
  Message message{.header = offer.header, .body = std::move(reply)};
  std::swap(message.header.sender_epoch, message.header.receiver_epoch);
  message.header.from = 1;
  return message;
}

TEST(Peer, a_reply_for_another_bucket_than_was_offered_is_refused) {
  EnginePair pair({.floats = 5, .bucket_floats = 4});
  pair.meet();
  pair.boundary(0);
  // Offered was bucket 0 with four floats; answered is bucket 1 with one.
  const Message lie = answer_to(
      pair.wire.front(0), {.sequence = 1, .bucket = 1, .divisor = 2, .payload = Payload(Bytes(4))});
  const auto before = pair.z(0);
  pair.wire.inject(1, lie);
  pair.wire.deliver(1);
  pair.turn(0);
  EXPECT_EQ(pair.z(0), before);
  EXPECT_EQ(pair.counters(0).violations, 1U);
  EXPECT_EQ(pair.open_offers(0), 3U);
}

/// The transport promises a turn once there is room.
TEST(Peer, one_whose_link_is_full_is_not_asked_again_and_again) {
  EnginePair pair({.floats = 5, .bucket_floats = 4});
  pair.meet();
  pair.wire.full = true;
  pair.boundary(0);
  EXPECT_FALSE(pair.pump(0).edges().at(1).link.backlog.empty());
  const TimePoint next = pair.pump(0).turn(pair.now, pair.standing[0]);
  EXPECT_GT(next - pair.now, std::chrono::milliseconds(20));
  pair.wire.full = false;
  pair.turn(0);
  EXPECT_TRUE(pair.pump(0).edges().at(1).link.backlog.empty());
  pair.deliver_all();
  EXPECT_EQ(pair.z(0), pair.z(1));
}

TEST(Peer, a_part_that_is_none_is_counted_named_and_rejected) {
  EnginePair pair({.floats = 5, .bucket_floats = 4, .codec = parse_codec("topk:0.5")});
  pair.meet();
  pair.boundary(0);
  Message lie = pair.wire.front(0);
  auto& offer = std::get<Offer>(lie.body);
  ASSERT_NE(offer.codec, kExact);
  Bytes bytes(view(offer.payload).begin(), view(offer.payload).end());
  bytes[4] = std::byte{9};
  offer.payload = Payload(bytes);
  while (pair.wire.under_way(0) > 0) pair.wire.swallow(0);
  const auto before = pair.z(1);
  pair.wire.inject(0, lie);
  pair.wire.deliver(0);
  pair.turn(1);
  EXPECT_EQ(pair.z(1), before);
  EXPECT_EQ(pair.wire.front(1).as<Reply>()->status, ReplyStatus::kRejected);
  EXPECT_EQ(pair.pump(1).status().pump.malformed, 1U);
  ASSERT_EQ(pair.log(1).size(), 1U);
  EXPECT_NE(pair.log(1)[0].find("does not fit its bucket"), std::string::npos) << pair.log(1)[0];
}

TEST(Peer, a_part_is_completed_by_a_reply_in_its_coordinates_alone) {
  EnginePair pair({.floats = 5, .bucket_floats = 4, .codec = parse_codec("topk:0.5")});
  pair.meet();
  pair.boundary(0);
  const Message offer = pair.wire.front(0);
  ASSERT_NE(offer.as<Offer>()->codec, kExact);
  const Message lie = answer_to(offer, {.sequence = offer.as<Offer>()->sequence,
                                        .bucket = offer.as<Offer>()->bucket,
                                        .divisor = 2,
                                        .codec = kExact,
                                        .payload = Payload(Bytes(4 * 4, std::byte{1}))});
  const auto before = pair.z(0);
  pair.wire.inject(1, lie);
  pair.wire.deliver(1);
  pair.turn(0);
  EXPECT_EQ(pair.z(0), before);
  EXPECT_EQ(pair.pump(0).status().pump.malformed, 1U);
}

TEST(Peer, one_who_never_completes_cannot_fill_memory) {
  EnginePair pair;
  pair.meet();
  pair.boundary(0);
  Message offer = pair.wire.front(0);
  pair.deliver_all();
  offer.header.completed = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::get<Offer>(offer.body).sequence = pair.edge(1).book.answered + 1;
    offer.header.sender_epoch = pair.edge(1).life.their_epoch;
    offer.header.receiver_epoch = pair.edge(1).life.our_epoch;
    pair.wire.inject(0, offer);
    pair.wire.deliver(0);
    pair.turn(1);
    while (pair.wire.under_way(1) > 0) pair.wire.swallow(1);
  }
  EXPECT_LE(pair.edge(1).book.unreleased(), 5000U);
  EXPECT_LE(pair.edge(1).book.mixing, 64U);
  EXPECT_LE(pair.pump(1).status().payloads, 100U);
  EXPECT_GE(pair.counters(1).violations, 1U);
}

TEST(Peer, a_hello_of_a_former_life_changes_nothing) {
  EnginePair pair;
  pair.meet();
  pair.boundary(0);
  pair.wire.deliver(0);
  pair.turn(1);  // replies retained at 1
  Hello hello = pair.pump(0).engine().config().hello;
  hello.generation -= 1;
  Message old{.header = {}, .body = hello};
  old.header.from = 0;
  old.header.completed = 99;
  old.header.step = 12345;
  old.header.state = WorkerState::kFrozen;
  pair.wire.inject(0, old);
  pair.wire.deliver(0);
  pair.turn(1);
  EXPECT_EQ(pair.edge(1).book.unreleased(), 3U);
  EXPECT_NE(pair.edge(1).report.steps.count, 12345U);
  EXPECT_EQ(pair.edge(1).report.state, WorkerState::kTraining);
}

}  // namespace
}  // namespace stencil
