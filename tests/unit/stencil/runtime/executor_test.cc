#include "stencil/runtime/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/lone_engine.h"

namespace stencil {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr LinkId kLink = 5;

Payload of(const std::vector<float>& values) {
  Bytes bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return Payload(std::move(bytes));
}
std::vector<float> values_of(const Payload& payload) {
  std::vector<float> values(view(payload).size() / sizeof(float));
  std::memcpy(values.data(), view(payload).data(), view(payload).size());
  return values;
}

/// Rank 0 of ring:2 with a model of two buckets of two values each, and a neighbour played by the
/// test. Only the executor carries out what the engine decides.
class ExecutorTest : public testing::Test {
 protected:
  explicit ExecutorTest(std::size_t payloads = SIZE_MAX) : payloads_(payloads) {
    for (auto& [rank, edge] : lone_.edges) edge.codec = forms_.make_codec(model_);
    lone_.meet(1, kLink);
    run();
    transport_.frames.clear();
  }
  void run() { executor_.run(lone_.out); }
  void hear(MessageBody body) {
    lone_.hear(1, std::move(body));
    run();
  }
  void boundary() {
    lone_.engine.on_boundary(lone_.now, lone_.engine.step() + 1, lone_.out);
    run();
  }
  void state(WorkerState state) {
    lone_.engine.on_state(lone_.now, state, lone_.out);
    run();
  }
  [[nodiscard]] SequenceBook& book() { return lone_.neighbours.at(1).book; }
  [[nodiscard]] std::vector<float> z() const {
    std::vector<float> values(4);
    mixer_.read_z(values);
    return values;
  }
  [[nodiscard]] BucketGuard hold(std::uint32_t bucket) {
    return BucketGuard::try_once(mixer_.segment().control(bucket));
  }

  std::vector<float> model_ = {1, 2, 3, 4};
  std::vector<double> telemetry_ = {0};
  Layout layout_ = Layout::flat(4, 2);
  Mixer mixer_{layout_, model_, telemetry_, Segment(layout_, 0, Segment::Reach::kShared)};
  std::vector<std::string> log_;
  Carried carried_{Bytes{std::byte{7}, std::byte{8}, std::byte{9}}, 2};
  test::LoneEngine lone_{"ring:2"};
  test::KeptFrames transport_;
  PumpCounters counters_;
  Complaints complaints_{[this](LogLevel, std::string_view text) { log_.emplace_back(text); }};
  Settlement settlement_{lone_.edges, 2, 1e-3};
  std::size_t payloads_;
  PayloadForms forms_{{}, mixer_, carried_, payloads_};
  Outbox outbox_{transport_, 4, counters_.frames_dropped};
  Executor executor_{lone_.engine, lone_.edges, mixer_,      carried_, forms_,
                     outbox_,      settlement_, complaints_, counters_};
};

TEST_F(ExecutorTest, an_offer_shows_the_bucket_and_is_kept_as_it_was_sent) {
  boundary();
  const auto offers = transport_.sent_of<Offer>();
  ASSERT_THAT(offers, SizeIs(3));
  EXPECT_THAT(values_of(offers[0].payload), ElementsAre(1, 2));
  EXPECT_THAT(values_of(offers[1].payload), ElementsAre(3, 4));
  ASSERT_THAT(book().open, SizeIs(3));
  for (const OpenOffer& open : book().open) EXPECT_TRUE(open.made) << open.sequence;
  EXPECT_THAT(values_of(book().open[1].payload), ElementsAre(3, 4));
  EXPECT_FALSE(book().open[1].finishing);
  EXPECT_THAT(lone_.out, IsEmpty()) << "all is carried out";
}

TEST_F(ExecutorTest, a_reply_moves_us_by_what_it_moved_them) {
  boundary();
  hear(Reply{.sequence = 1, .bucket = 0, .divisor = 2, .payload = of({0.5F, -1})});
  EXPECT_THAT(z(), ElementsAre(0.5F, 3, 3, 4));
  EXPECT_THAT(book().open, SizeIs(2));
}

TEST_F(ExecutorTest, an_offer_is_answered_with_half_of_the_difference_and_the_answer_kept) {
  hear(Offer{.sequence = 1, .bucket = 0, .payload = of({3, 0})});
  const auto replies = transport_.sent_of<Reply>();
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_EQ(replies[0].status, ReplyStatus::kDelta);
  EXPECT_EQ(replies[0].divisor, 2);
  EXPECT_THAT(values_of(replies[0].payload), ElementsAre(1, -1));
  EXPECT_THAT(z(), ElementsAre(2, 1, 3, 4));
  ASSERT_THAT(book().kept, SizeIs(1));
  const Reply* const kept = book().kept[0].message.as<Reply>();
  ASSERT_NE(kept, nullptr);
  EXPECT_THAT(values_of(kept->payload), ElementsAre(1, -1));
}

TEST_F(ExecutorTest, offers_that_cross_move_both_ends_to_the_middle_without_a_reply) {
  boundary();
  transport_.frames.clear();
  hear(Offer{.sequence = 1, .bucket = 1, .payload = of({5, 0})});
  EXPECT_THAT(z(), ElementsAre(1, 2, 4, 2));
  EXPECT_THAT(transport_.sent_of<Reply>(), IsEmpty());
}

TEST_F(ExecutorTest, what_is_not_finite_is_refused_counted_and_named_once) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (std::uint64_t sequence = 1; sequence <= 3; ++sequence) {
    hear(Offer{.sequence = sequence, .bucket = 0, .payload = of({nan, 0})});
  }
  for (const Reply& reply : transport_.sent_of<Reply>()) {
    EXPECT_EQ(reply.status, ReplyStatus::kRejected);
    EXPECT_FALSE(reply.payload);
  }
  EXPECT_THAT(z(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(counters_.non_finite, 3U);
  EXPECT_EQ(book().mixing, 0U) << "none of them counts as an answer that mixes";
  EXPECT_THAT(log_, ElementsAre(HasSubstr("an offer that is not finite was refused")));
}

TEST_F(ExecutorTest, an_offer_without_values_is_declined) {
  hear(Offer{.sequence = 1, .bucket = 0});
  const auto replies = transport_.sent_of<Reply>();
  ASSERT_THAT(replies, SizeIs(1));
  EXPECT_EQ(replies[0].status, ReplyStatus::kBusy);
  EXPECT_EQ(lone_.engine.counters().declined, 1U);
}

TEST_F(ExecutorTest, a_model_that_is_not_finite_is_offered_without_values) {
  model_[0] = std::numeric_limits<float>::infinity();
  (void)mixer_.fold(model_);
  boundary();
  const auto offers = transport_.sent_of<Offer>();
  ASSERT_THAT(offers, SizeIs(3));
  EXPECT_FALSE(offers[0].payload);
  EXPECT_TRUE(offers[1].payload);
  EXPECT_TRUE(book().open[0].made);
  EXPECT_EQ(counters_.own_non_finite, 1U);
}

/// As where frames that were sent stand on a link, and their memory with them.
class FullExecutorTest : public ExecutorTest {
 protected:
  FullExecutorTest() : ExecutorTest(2) {}
};

TEST_F(FullExecutorTest, what_finds_no_memory_is_offered_without_values) {
  boundary();
  const auto offers = transport_.sent_of<Offer>();
  ASSERT_THAT(offers, SizeIs(3));
  EXPECT_TRUE(offers[1].payload);
  EXPECT_FALSE(offers[2].payload);
  EXPECT_EQ(counters_.put_off, 1U);
  EXPECT_EQ(forms_.made(), 2U);
}

TEST_F(FullExecutorTest, what_finds_no_memory_is_declined_and_not_served) {
  hear(Offer{.sequence = 1, .bucket = 0, .payload = of({3, 0})});
  hear(Offer{.sequence = 2, .bucket = 1, .payload = of({3, 0})});
  hear(Offer{.sequence = 3, .bucket = 0, .payload = of({5, 0})});
  const auto replies = transport_.sent_of<Reply>();
  ASSERT_THAT(replies, SizeIs(3));
  EXPECT_EQ(replies[1].status, ReplyStatus::kDelta);
  EXPECT_EQ(replies[2].status, ReplyStatus::kBusy);
  EXPECT_THAT(z(), ElementsAre(2, 1, 3, 2)) << "as the first two offers have moved it";
  hear(Pull{.bucket = 0, .round = 0});
  EXPECT_THAT(transport_.sent_of<Snapshot>(), IsEmpty());
  EXPECT_EQ(counters_.frames_dropped, 1U);
  EXPECT_EQ(forms_.made(), 2U);
}

TEST_F(ExecutorTest, what_another_process_holds_is_owed_and_made_up_for) {
  boundary();
  {
    const BucketGuard guard = hold(0);
    ASSERT_TRUE(guard);
    hear(Reply{.sequence = 1, .bucket = 0, .divisor = 2, .payload = of({1, 1})});
    EXPECT_TRUE(executor_.owes());
    EXPECT_EQ(counters_.put_off, 1U);
  }
  executor_.make_up();
  EXPECT_FALSE(executor_.owes());
  EXPECT_THAT(z(), ElementsAre(0, 1, 3, 4));
}

TEST_F(ExecutorTest, an_offer_of_what_another_process_holds_is_busy) {
  const BucketGuard guard = hold(0);
  ASSERT_TRUE(guard);
  hear(Offer{.sequence = 1, .bucket = 0, .payload = of({3, 0})});
  EXPECT_EQ(transport_.sent_of<Reply>().at(0).status, ReplyStatus::kBusy);
  EXPECT_FALSE(executor_.owes());
}

TEST_F(ExecutorTest, a_newcomer_gets_no_bucket_that_there_is_not) {
  hear(Pull{.bucket = mixer_.bucket_count()});
  hear(Pull{.bucket = UINT32_MAX});
  EXPECT_THAT(transport_.sent_of<Snapshot>(), IsEmpty());
  hear(Pull{.bucket = mixer_.bucket_count() - 1});
  EXPECT_THAT(transport_.sent_of<Snapshot>(), SizeIs(1));
}

TEST_F(ExecutorTest, what_is_owed_to_a_neighbour_that_is_removed_is_dropped) {
  const BucketGuard guard = hold(0);
  ASSERT_TRUE(guard);
  hear(Pull{.bucket = 0});
  EXPECT_TRUE(executor_.owes());
  executor_.forget(1);
  EXPECT_FALSE(executor_.owes());
}

TEST_F(ExecutorTest, who_pulls_the_same_bucket_twice_while_it_is_held_gets_it_once) {
  {
    const BucketGuard guard = hold(0);
    ASSERT_TRUE(guard);
    hear(Pull{.bucket = 0});
    hear(Pull{.bucket = 0});
  }
  executor_.make_up();
  const auto snapshots = transport_.sent_of<Snapshot>();
  ASSERT_THAT(snapshots, SizeIs(1));
  EXPECT_THAT(values_of(snapshots[0].payload), ElementsAre(1, 2));
}

TEST_F(ExecutorTest, after_the_last_step_an_offer_shows_the_final_model) {
  boundary();
  for (std::uint64_t sequence = 1; sequence <= 3; ++sequence) {
    const std::uint32_t bucket = book().open.front().bucket;
    hear(Reply{.sequence = sequence, .bucket = bucket, .status = ReplyStatus::kBusy});
  }
  EXPECT_FALSE(executor_.finishing());
  lone_.state = WorkerState::kSettling;
  hear(Heartbeat{});
  state(WorkerState::kSettling);
  EXPECT_TRUE(executor_.finishing());
  ASSERT_FALSE(book().open.empty());
  EXPECT_TRUE(book().open.back().finishing);
}

TEST_F(ExecutorTest, the_first_refusal_is_kept_and_each_is_logged) {
  Hello other = lone_.hello(2);
  other.run_id = "another";
  hear(other);
  other = lone_.hello(2);
  other.mode = "sync";
  hear(other);
  EXPECT_THAT(executor_.refused(), IsEmpty()) << "its earlier life is up";
  hear(Leave{});
  EXPECT_THAT(executor_.refused(), HasSubstr("neighbour 1: run id differs"));
  EXPECT_THAT(log_, ElementsAre(HasSubstr("run id differs")))
      << "of one cause, the first alone is a line";
  EXPECT_THAT(transport_.sent_of<Refusal>(), SizeIs(2));
}

}  // namespace
}  // namespace stencil
