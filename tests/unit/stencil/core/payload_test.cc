#include "stencil/core/payload.h"

#include <gtest/gtest.h>

#include <thread>

#include "stencil/core/payload_pool.h"

namespace stencil {
namespace {

TEST(Payload, OfItsOwnLivesAsLongAsItsLastHolder) {
  Payload first(Bytes(3, std::byte{7}));
  Payload second = first;
  EXPECT_EQ(first, second);
  first = {};
  EXPECT_FALSE(first);
  EXPECT_TRUE(view(first).empty());
  ASSERT_EQ(view(second).size(), 3U);
  EXPECT_EQ(view(second)[2], std::byte{7});
}

TEST(Payload, HandedOutAndTakenBackKeepsItsShare) {
  PayloadPool<BucketMemory> pool;
  BucketMemory* const memory = pool.take();
  Payload payload(memory);
  PayloadMemory* const out = Payload(payload).hand_out();
  payload = {};
  BucketMemory* const other = pool.take();
  EXPECT_NE(other, memory) << "still held";
  const Payload held(other);
  payload = Payload::take_back(out);
  payload = {};
  const Payload again(pool.take());
  EXPECT_EQ(pool.made(), 2U);
}

TEST(PayloadPool, UsesMemoryAgainAndMakesNoMoreThanWasHeldAtOnce) {
  PayloadPool<BucketMemory> pool;
  for (int round = 0; round < 5; ++round) {
    std::vector<Payload> held;
    for (int i = 0; i < 4; ++i) {
      BucketMemory* const memory = pool.take();
      held.emplace_back(memory);
      EXPECT_EQ(memory->use(10, 100).size(), 10U);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view(held.back()).data()) % 64, 0U);
    }
  }
  EXPECT_EQ(pool.made(), 4U);
}

TEST(BucketPool, SmallPayloadsTakeNoLargePiece) {
  BucketPool pool;
  constexpr std::size_t kLargest = 1 << 18;
  std::vector<Payload> held(6);
  for (std::size_t i = 0; i < held.size(); ++i) {
    const std::size_t size = i % 3 == 0 ? kLargest : 40 * i;
    EXPECT_EQ(pool.give(held[i], size, kLargest).size(), size);
    EXPECT_EQ(view(held[i]).size(), size);
  }
  EXPECT_EQ(pool.made_large(), 2U);
  EXPECT_EQ(pool.made(), 6U);
  held.clear();
  held.resize(4);
  for (Payload& payload : held) (void)pool.give(payload, BucketPool::kSmall, kLargest);
  EXPECT_EQ(pool.made(), 6U) << "pieces are used again";
  Payload next;
  (void)pool.give(next, BucketPool::kSmall + 1, kLargest);
  EXPECT_EQ(pool.made_large(), 2U);
}

TEST(BucketPool, HasRoomForSoManyOfEachSizeAndForWhatHasComeBack) {
  BucketPool pool;
  constexpr std::size_t kLargest = 1 << 18;
  Payload large, small;
  EXPECT_FALSE(pool.has_room(kLargest, 0));
  EXPECT_TRUE(pool.has_room(kLargest, 1));
  (void)pool.give(large, kLargest, kLargest);
  EXPECT_FALSE(pool.has_room(kLargest, 1));
  EXPECT_TRUE(pool.has_room(1, 1));
  (void)pool.give(small, 1, kLargest);
  EXPECT_FALSE(pool.has_room(1, 1));
  EXPECT_EQ(pool.bytes(kLargest), kLargest + BucketPool::kSmall);
  large = Payload();
  EXPECT_TRUE(pool.has_room(kLargest, 1));
}

TEST(PayloadPool, WhatWasTakenOutlivesThePool) {
  Payload survivor;
  {
    PayloadPool<BucketMemory> pool;
    BucketMemory* const memory = pool.take();
    survivor = Payload(memory);
    memory->use(2, 2)[0] = std::byte{1};
    const Payload gone(pool.take());
  }
  EXPECT_EQ(view(survivor)[0], std::byte{1});
}

TEST(PayloadPool, MemoryComesBackFromOtherThreads) {
  PayloadPool<BucketMemory> pool;
  for (int round = 0; round < 200; ++round) {
    std::array<Payload, 4> held;
    for (Payload& payload : held) {
      BucketMemory* const memory = pool.take();
      payload = Payload(memory);
      for (std::byte& byte : memory->use(64, 64)) byte = static_cast<std::byte>(round);
    }
    const auto let_go = [&](std::size_t begin) {
      for (std::size_t i = begin; i < begin + 2; ++i) {
        EXPECT_EQ(view(held[i])[63], static_cast<std::byte>(round));
        held[i] = {};
      }
    };
    std::thread one(let_go, 0), other(let_go, 2);
    one.join();
    other.join();
  }
  EXPECT_EQ(pool.made(), 4U);
}

}  // namespace
}  // namespace stencil
