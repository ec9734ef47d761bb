// What a neighbour may send that no worker of ours would: counted, and without effect.
#include <gtest/gtest.h>

#include "stencil/engine/engine.h"
#include "tests/support/engine_pair.h"

namespace stencil {
namespace {

using test::EnginePair;

TEST(Peer, a_reply_for_another_bucket_than_was_offered_is_refused) {
  EnginePair pair({.floats = 5, .bucket_floats = 4});
  pair.meet();
  pair.boundary(0);
  Message lie = pair.wire.front(0);
  lie.kind = MessageKind::kReply;
  std::swap(lie.sender_epoch, lie.receiver_epoch);
  lie.from = 1;
  lie.divisor = 2;
  lie.sequence = 1;  // offered bucket 0 with four floats; answered as bucket 1 with one
  lie.bucket = 1;
  lie.payload = Payload(Bytes(4));
  const auto before = pair.z(0);
  pair.wire.inject(1, lie);
  pair.wire.deliver(1);
  pair.turn(0);
  EXPECT_EQ(pair.z(0), before);
  EXPECT_EQ(pair.counters(0).violations, 1U);
  EXPECT_EQ(pair.pump(0).engine().open_offers(), 3U);
}

TEST(Peer, a_part_that_is_none_is_counted_named_and_rejected) {
  EnginePair pair({.floats = 5, .bucket_floats = 4, .codec = {CodecKind::kTopK, 500'000}});
  pair.meet();
  pair.boundary(0);
  Message lie = pair.wire.front(0);
  ASSERT_EQ(lie.codec, CodecKind::kTopK);
  Bytes bytes(view(lie.payload).begin(), view(lie.payload).end());
  bytes[4] = std::byte{9};
  lie.payload = Payload(bytes);
  while (pair.wire.under_way(0) > 0) pair.wire.swallow(0);
  const auto before = pair.z(1);
  pair.wire.inject(0, lie);
  pair.wire.deliver(0);
  pair.turn(1);
  EXPECT_EQ(pair.z(1), before);
  EXPECT_EQ(pair.wire.front(1).status, ReplyStatus::kRejected);
  EXPECT_EQ(pair.pump(1).status().pump.malformed, 1U);
  ASSERT_EQ(pair.log(1).size(), 1U);
  EXPECT_NE(pair.log(1)[0].find("no part of its bucket"), std::string::npos) << pair.log(1)[0];
}

TEST(Peer, a_part_is_settled_by_a_reply_in_its_coordinates_alone) {
  EnginePair pair({.floats = 5, .bucket_floats = 4, .codec = {CodecKind::kTopK, 500'000}});
  pair.meet();
  pair.boundary(0);
  Message lie = pair.wire.front(0);
  ASSERT_EQ(lie.codec, CodecKind::kTopK);
  lie.kind = MessageKind::kReply;
  std::swap(lie.sender_epoch, lie.receiver_epoch);
  lie.from = 1;
  lie.divisor = 2;
  lie.codec = CodecKind::kFp32;
  lie.payload = Payload(Bytes(4 * 4, std::byte{1}));
  const auto before = pair.z(0);
  pair.wire.inject(1, lie);
  pair.wire.deliver(1);
  pair.turn(0);
  EXPECT_EQ(pair.z(0), before);
  EXPECT_EQ(pair.pump(0).status().pump.malformed, 1U);
}

TEST(Peer, one_who_never_settles_cannot_fill_memory) {
  EnginePair pair;
  pair.meet();
  pair.boundary(0);
  Message offer = pair.wire.front(0);
  pair.settle();
  offer.settled = 0;
  for (int i = 0; i < 20'000; ++i) {
    offer.sequence = pair.edge(1).answered + 1;
    offer.sender_epoch = pair.edge(1).peer_epoch;
    offer.receiver_epoch = pair.edge(1).my_epoch;
    pair.wire.inject(0, offer);
    pair.wire.deliver(0);
    pair.turn(1);
    while (pair.wire.under_way(1) > 0) pair.wire.swallow(1);
  }
  EXPECT_LE(pair.edge(1).unreleased(), 5000U);
  EXPECT_LE(pair.pump(1).unsettled_at(0).size(), 64U);
  EXPECT_GE(pair.counters(1).violations, 1U);
}

TEST(Peer, a_hello_of_a_former_life_changes_nothing) {
  EnginePair pair;
  pair.meet();
  pair.boundary(0);
  pair.wire.deliver(0);
  pair.turn(1);  // replies retained at 1
  Message old;
  old.kind = MessageKind::kHello;
  old.from = 0;
  old.hello = pair.pump(0).engine().config().hello;
  old.hello.incarnation -= 1;
  old.settled = 99;
  old.step = 12345;
  old.state = WorkerState::kFrozen;
  pair.wire.inject(0, old);
  pair.wire.deliver(0);
  pair.turn(1);
  EXPECT_EQ(pair.edge(1).unreleased(), 3U);
  EXPECT_NE(pair.edge(1).steps.count, 12345U);
  EXPECT_EQ(pair.edge(1).peer_state, WorkerState::kTraining);
}

}  // namespace
}  // namespace stencil
