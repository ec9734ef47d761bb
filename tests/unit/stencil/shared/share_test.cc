// Two workers that exchange in shared memory, and a bucket that a third process holds. The test
// itself holds it: a worker cannot tell the difference.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

#include "stencil/core/random.h"
#include "stencil/mix/codecs/dense.h"
#include "tests/support/engine_pair.h"

namespace stencil {
namespace {

using test::EnginePair;

BucketGuard hold(EnginePair& pair, Rank rank, std::uint32_t bucket) {
  return BucketGuard::try_once(pair.mixer(rank).segment().control(bucket));
}

TEST(Share, averages_without_a_message_and_the_telemetry_by_wire) {
  EnginePair pair({.sharing = true});
  pair.meet();
  pair.boundary(0);
  pair.deliver_all();
  EXPECT_EQ(pair.z(0), pair.z(1));
  EXPECT_EQ(pair.z(0), std::vector<float>({-0.5F, 0, 0.5F, 1}));
  EXPECT_EQ(pair.counters(0).shares, 2U);
  EXPECT_EQ(pair.counters(0).offers, 1U) << "only the telemetry's";
  EXPECT_EQ(pair.counters(0).sweeps, 1U);
  EXPECT_TRUE(pair.pump(0).status().neighbours[0].shared);
  EXPECT_EQ(pair.pump(0).status().pump.bytes_shared, 4 * sizeof(float));
  EXPECT_EQ(pair.pump(1).status().pump.bytes_shared, 0U) << "counted where it was begun";
}

TEST(Share, settles_and_freezes_and_a_frozen_model_is_changed_by_nobody) {
  EnginePair pair({.sharing = true});
  pair.meet();
  for (const Rank rank : {0, 1}) pair.standing[rank].wanted = WorkerState::kSettling;
  pair.pass(1);
  EXPECT_TRUE(pair.pump(0).status().may_freeze);
  EXPECT_TRUE(pair.pump(1).status().may_freeze);
  EXPECT_EQ(pair.z(0), pair.z(1));
  pair.standing[0].wanted = WorkerState::kFrozen;
  pair.turn(0);
  const std::vector<float> frozen = pair.z(0);
  // Before word of it has come to the other:
  pair.mixer(1).segment().p()[0] += 8;
  const MixReport late = pair.mixer(1).average_shared(0, pair.mixer(0).segment(), true);
  EXPECT_FALSE(late.applied);
  EXPECT_EQ(pair.z(0), frozen);
}

TEST(Share, a_bucket_that_a_third_process_holds_is_skipped_counted_and_come_back_to) {
  EnginePair pair({.sharing = true});
  pair.meet();
  {
    const BucketGuard held = hold(pair, 1, 0);
    pair.boundary(0);
    pair.deliver_all();
    EXPECT_EQ(pair.counters(0).shares, 1U);
    EXPECT_EQ(pair.counters(0).sweeps, 0U) << "it comes back to it for a while";
    pair.pass(2);
    EXPECT_EQ(pair.counters(0).sweeps, 1U) << "and then goes on";
    EXPECT_EQ(pair.counters(0).skipped, 1U);
    EXPECT_GT(pair.counters(0).held, 4U);
    const std::vector<float> before = pair.x[1];
    pair.boundary(1);
    EXPECT_EQ(pair.x[1][0], before[0]) << "its owner trains on without it";
    EXPECT_NE(pair.x[1][2], before[2]);
  }
  pair.boundary(0);
  pair.deliver_all();
  EXPECT_EQ(pair.z(0), pair.z(1));
}

/// A neighbour's process that is stopped, or swapped out, in the middle of an exchange.
TEST(Share, a_neighbour_that_stands_still_with_a_bucket_is_counted_and_named) {
  EnginePair pair({.sharing = true});
  pair.meet();
  const auto said = [&] {
    return std::ranges::count_if(pair.log(0), [](const std::string& line) {
      return line.find("neighbour 1: stands still and holds a bucket") != std::string::npos;
    });
  };
  {
    const BucketGuard held = BucketGuard::try_for_a_while(pair.mixer(0).segment().control(0), 1);
    ASSERT_TRUE(held);
    for (int step = 0; step < 2; ++step) pair.boundary(0);
    EXPECT_EQ(pair.pump(0).status().pump.deferred, 2U);
    EXPECT_EQ(said(), 0) << "that may be over in a moment";
    pair.pass(4);
    pair.boundary(0);
    EXPECT_EQ(said(), 1);
    pair.pass(4);
    EXPECT_EQ(said(), 1) << "once";
  }
  pair.boundary(0);
  EXPECT_EQ(pair.pump(0).status().pump.deferred, 3U);
  EXPECT_EQ(pair.mixer(0).lock_holder(), kNoRank);
}

TEST(Share, what_is_not_finite_is_refused_and_counted) {
  EnginePair pair({.sharing = true});
  pair.meet();
  pair.mixer(1).segment().y()[1] = std::numeric_limits<float>::quiet_NaN();
  pair.boundary(0);
  pair.deliver_all();
  EXPECT_EQ(pair.z(0)[0], 1);
  EXPECT_EQ(pair.z(0)[2], 0.5F);
  EXPECT_EQ(pair.counters(0).sweeps, 1U);
  EXPECT_EQ(pair.pump(0).status().pump.non_finite, 1U);
}

TEST(Share, asks_of_a_bucket_with_an_open_request_for_a_third_and_no_more_than_three_times) {
  const Layout layout = Layout::flat(8, 8);
  const std::vector<float> zeros(8), ones(8, 1.0F);
  Mixer open(layout, zeros, {}, Segment(layout, 0, Segment::Reach::kShared));
  Mixer asker(layout, ones, {}, Segment(layout, 1, Segment::Reach::kShared));
  open.segment().admit(true);
  DenseEdgeCodec fp32;
  Bytes offered(32);
  ASSERT_TRUE(open.offer(0, fp32, offered).applied);
  for (int i = 0; i < 3; ++i) {
    const MixReport report = asker.average_shared(0, open.segment(), true);
    EXPECT_TRUE(report.applied);
    EXPECT_EQ(report.divisor, 3);
  }
  EXPECT_EQ(asker.average_shared(0, open.segment(), true).why, MixReport::Why::kBusy);
  Bytes reply(32);
  EXPECT_EQ(open.answer(0, fp32, offered, 3, reply).why, MixReport::Why::kBusy)
      << "answers by wire come from the same three";
  open.close_request(0);
  EXPECT_EQ(asker.average_shared(0, open.segment(), true).divisor, 2);
}

TEST(Share, of_a_bucket_in_whose_middle_a_neighbour_was_killed_goes_on_and_is_counted) {
  EnginePair pair({.sharing = true});
  pair.meet();
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    Segment& segment = pair.mixer(1).segment();
    const BucketGuard guard = BucketGuard::try_once(segment.control(0));
    segment.p()[0] += 0.5F;  // applied at this end only
    (void)!::write(ready[1], "x", 1);
    while (true) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ::close(ready[0]);
  ::close(ready[1]);
  pair.boundary(0);
  pair.deliver_all();
  EXPECT_EQ(pair.z(0), pair.z(1));
  EXPECT_EQ(pair.z(0)[0], -0.25F) << "what was applied stays; that is all the harm";
  EXPECT_EQ(pair.counters(0).shares, 2U);
  EXPECT_EQ(pair.pump(0).status().pump.inherited_locks, 1U);
}

/// What is put off while a bucket is held by a neighbour on this host, the edge being one by wire.
class Held : public ::testing::Test {
 protected:
  Held() { pair_.meet(); }
  EnginePair pair_{{.shareable = true}};
  const double sum_ = pair_.sum();
};

TEST_F(Held, an_offer_of_nothing_takes_the_place_of_one_that_cannot_be_read) {
  {
    const BucketGuard held = hold(pair_, 0, 0);
    pair_.boundary(0);
    pair_.deliver_all();
    EXPECT_EQ(pair_.counters(0).sweeps, 1U);
    EXPECT_EQ(pair_.counters(1).gaps, 0U);
    EXPECT_EQ(pair_.pump(1).status().pump.payload_size, 0U);
  }
  EXPECT_EQ(pair_.z(0)[0], 1);
  EXPECT_EQ(pair_.z(0)[2], pair_.z(1)[2]);
  pair_.boundary(0);
  pair_.deliver_all();
  EXPECT_EQ(pair_.z(0), pair_.z(1));
  EXPECT_EQ(pair_.sum(), sum_);
}

TEST_F(Held, an_offer_of_nothing_that_crosses_another_makes_no_exchange) {
  {
    const BucketGuard held = hold(pair_, 0, 0);
    pair_.boundary(0);
    pair_.boundary(1);  // offers before anything of the other arrives
    pair_.deliver_all();
  }
  EXPECT_EQ(pair_.z(0)[0], 1);
  EXPECT_EQ(pair_.z(1)[0], -2);
  EXPECT_EQ(pair_.z(0)[2], pair_.z(1)[2]);
  EXPECT_EQ(pair_.sum(), sum_);
}

TEST_F(Held, an_answer_is_busy) {
  {
    const BucketGuard held = hold(pair_, 1, 0);
    pair_.boundary(0);
    pair_.deliver_all();
  }
  EXPECT_EQ(pair_.z(0)[0], 1);
  EXPECT_EQ(pair_.counters(0).sweeps, 1U);
  EXPECT_EQ(pair_.sum(), sum_);
}

TEST_F(Held, a_delta_and_a_merge_are_made_up_for_later) {
  for (const bool crossing : {false, true}) {
    SCOPED_TRACE(crossing);
    pair_.mixer(0).segment().p()[0] += 4;
    pair_.mixer(1).segment().p()[0] -= 4;
    pair_.boundary(0);
    if (crossing) pair_.boundary(1);
    {
      const BucketGuard held = hold(pair_, 0, 0);
      pair_.deliver_all();
      EXPECT_FALSE(pair_.pump(0).status().flushed);
    }
    EXPECT_NE(pair_.z(1)[0], pair_.z(0)[0]);
    pair_.pass(2);
    EXPECT_TRUE(pair_.pump(0).status().flushed);
    EXPECT_EQ(pair_.z(0), pair_.z(1));
    EXPECT_EQ(pair_.sum(), sum_);
  }
}

/// Both the training threads and both the background threads of two workers of one process.
TEST(Share, from_all_threads_at_once_keeps_the_sum) {
  constexpr std::size_t kFloats = 40000;
  const Layout layout = Layout::flat(kFloats, 4000);
  std::vector<float> x[2];
  std::vector<std::unique_ptr<Mixer>> mixers;
  std::vector<Segment> reached;  // each one's mapping of the other's memory
  for (const Rank rank : {0, 1}) {
    x[rank].assign(kFloats, rank == 0 ? 3.0F : 1.0F);
    mixers.push_back(std::make_unique<Mixer>(layout, x[rank], std::vector<double>{},
                                             Segment(layout, rank, Segment::Reach::kShared)));
    mixers[rank]->segment().admit(true);
  }
  for (const Rank rank : {0, 1}) {
    const Segment& other = mixers[1 - rank]->segment();
    reached.push_back(
        std::move(Segment::map(other.descriptor(), layout, 1 - rank, other.id()).value()));
  }
  std::atomic<int> applied{0};
  const auto background = [&](Rank rank) {
    for (int sweep = 0; sweep < 50; ++sweep) {
      for (std::uint32_t b = 0; b < layout.bucket_count(); ++b) {
        if (mixers[rank]->average_shared(b, reached[rank], rank == 1).applied) ++applied;
      }
    }
  };
  const auto training = [&](Rank rank) {
    for (int step = 0; step < 200; ++step) {
      (void)(step % 2 == 0 ? mixers[rank]->fold(x[rank]) : mixers[rank]->fold_news(x[rank]));
    }
  };
  {
    std::vector<std::jthread> threads;
    for (const Rank rank : {0, 1}) {
      threads.emplace_back(background, rank);
      threads.emplace_back(training, rank);
    }
  }
  EXPECT_GT(applied, 0);
  for (const Rank rank : {0, 1}) (void)mixers[rank]->fold(x[rank]);
  for (std::size_t i = 0; i < kFloats; ++i) ASSERT_EQ(x[0][i] + x[1][i], 4.0F) << i;
}

}  // namespace
}  // namespace stencil
