#include "stencil/mix/mixer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <future>
#include <limits>
#include <thread>

#include "stencil/core/random.h"
#include "stencil/mix/codecs/dense.h"
#include "tests/support/codec_cases.h"

namespace stencil {
namespace {

constexpr std::size_t kFloats = 3000;  // several cache blocks, a short last bucket
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::vector<float> noise(std::uint64_t seed, std::size_t size = kFloats) {
  Random random(seed);
  std::vector<float> values(size);
  for (float& v : values) v = static_cast<float>(random.normal());
  return values;
}

/// Values and differences in one codec without state: one object serves both ends.
DenseEdgeCodec edge_codec(CodecNumber number) {
  return {{make_codec(number), number}, {make_codec(number), number}};
}

/// Two mixers that exchange, and the sum that must stay.
class Two : public ::testing::TestWithParam<CodecSpec> {
 protected:
  Two() {
    for (int i = 0; i < 2; ++i) {
      x_[i] = noise(i + 1);
      mixers_.push_back(std::make_unique<Mixer>(layout_, x_[i], std::vector<double>{1.0 * i, 1.0}));
    }
  }
  std::vector<double> sums() {
    std::vector<double> sum(kFloats);
    std::vector<float> z(kFloats);
    for (const auto& mixer : mixers_) {
      mixer->read_z(z);
      for (std::size_t i = 0; i < kFloats; ++i) sum[i] += z[i];
    }
    return sum;
  }
  void expect_sums(const std::vector<double>& before) {
    const auto after = sums();
    for (std::size_t i = 0; i < kFloats; ++i) ASSERT_NEAR(after[i], before[i], 2e-6) << i;
  }
  Bytes room(std::uint32_t bucket) {
    const bool telemetry = bucket == mixers_[0]->telemetry_bucket();
    return Bytes(telemetry ? mixers_[0]->telemetry_bytes()
                           : codec_.offer_form(mixers_[0]->floats(bucket)).bytes);
  }
  Bytes offer(int i, std::uint32_t bucket) {
    Bytes bytes = room(bucket);
    EXPECT_TRUE(mixers_[i]->offer(bucket, codec_, bytes).applied);
    return bytes;
  }

  Layout layout_ = Layout::flat(kFloats, 1200);
  DenseEdgeCodec codec_ = edge_codec(GetParam().number);
  std::vector<std::unique_ptr<Mixer>> mixers_;
  std::vector<float> x_[2];
};

TEST_P(Two, both_ends_apply_the_same_delta_with_a_fold_between) {
  const auto before = sums();
  double most = 0, most_apart = 0;
  for (std::size_t i = 0; i < kFloats; ++i) {
    most = std::max<double>(most, std::abs(x_[0][i]));
    most_apart = std::max<double>(most_apart, std::abs(x_[0][i] - x_[1][i]));
  }
  for (std::uint32_t b = 0; b < mixers_[0]->bucket_count(); ++b) {
    const Bytes s = offer(0, b);
    Bytes d(s.size());
    EXPECT_TRUE(mixers_[1]->answer(b, codec_, s, 2, d).applied);
    (void)mixers_[0]->fold(x_[0]);
    (void)mixers_[1]->fold(x_[1]);
    EXPECT_TRUE(mixers_[0]->complete(b, codec_, s, d, 2).applied);
  }
  expect_sums(before);
  (void)mixers_[0]->fold(x_[0]);
  (void)mixers_[1]->fold(x_[1]);
  expect_sums(before);
  // Offers and replies err by a step of their coding at most.
  const double step = test::codec_case(GetParam()).relative_error;
  for (std::size_t i = 0; i < kFloats; ++i) {
    ASSERT_NEAR(x_[0][i], x_[1][i], step * (most + most_apart) + 1e-5);
  }
}

TEST_P(Two, a_crossing_is_symmetric) {
  const auto before = sums();
  for (std::uint32_t b = 0; b < mixers_[0]->bucket_count(); ++b) {
    const Bytes s0 = offer(0, b), s1 = offer(1, b);
    EXPECT_TRUE(mixers_[0]->merge(b, codec_, {s0}, {s1}).applied);
    EXPECT_TRUE(mixers_[1]->merge(b, codec_, {s1}, {s0}).applied);
  }
  expect_sums(before);
}

TEST_P(Two, news_of_every_kind_are_folded_once_and_the_sum_is_kept) {
  for (const int i : {0, 1}) EXPECT_EQ(mixers_[i]->fold_news(x_[i]).folded, 0U) << "nothing came";
  const auto before = sums();
  const auto folds = [&](int i, std::size_t buckets) {
    EXPECT_EQ(mixers_[i]->fold_news(x_[i]).folded, buckets) << i;
    EXPECT_EQ(mixers_[i]->fold_news(x_[i]).folded, 0U) << i << ", once";
  };
  const Bytes s = offer(0, 0);
  folds(0, 0);
  Bytes d(s.size());
  ASSERT_TRUE(mixers_[1]->answer(0, codec_, s, 2, d).applied);
  folds(1, 1);
  ASSERT_TRUE(mixers_[0]->complete(0, codec_, s, d, 2).applied);
  folds(0, 1);
  const Bytes s0 = offer(0, 1), s1 = offer(1, 1);
  ASSERT_TRUE(mixers_[0]->merge(1, codec_, {s0}, {s1}).applied);
  ASSERT_TRUE(mixers_[1]->merge(1, codec_, {s1}, {s0}).applied);
  folds(0, 1);
  folds(1, 1);
  mixers_[1]->segment().admit(true);
  ASSERT_TRUE(mixers_[0]->average_shared(2, mixers_[1]->segment(), false).applied);
  folds(0, 1);
  folds(1, 1);
  expect_sums(before);
  std::vector<float> z(kFloats);
  for (const int i : {0, 1}) {
    mixers_[i]->read_z(z);
    EXPECT_EQ(z, x_[i]) << "all that was agreed is in the model";
  }
  Bytes copy(4 * layout_.bucket(0).size);
  ASSERT_TRUE(mixers_[0]->copy(0, copy).applied);
  ASSERT_TRUE(mixers_[1]->adopt(0, copy).applied);
  folds(1, 1);
  ASSERT_TRUE(mixers_[1]->discard(0).applied);
  folds(1, 1);
}

TEST_P(Two, local_steps_made_in_the_meantime_are_kept) {
  const Bytes s = offer(0, 0);
  Bytes d(s.size());
  ASSERT_TRUE(mixers_[1]->answer(0, codec_, s, 2, d).applied);
  for (float& v : x_[0]) v += 1;
  for (float& v : x_[1]) v -= 3;
  (void)mixers_[0]->fold(x_[0]);
  (void)mixers_[1]->fold(x_[1]);
  ASSERT_TRUE(mixers_[0]->complete(0, codec_, s, d, 2).applied);
  (void)mixers_[0]->fold(x_[0]);
  const auto a = noise(1), b = noise(2);
  for (std::size_t i = 0; i < kFloats; ++i) {
    ASSERT_NEAR(x_[0][i] + x_[1][i], a[i] + b[i] - 2, 5e-6);
  }
}

TEST_P(Two, what_is_not_finite_is_never_offered_and_changes_nothing) {
  const auto before = sums();
  const auto codec = make_codec(GetParam().number);
  const std::size_t width = codec->encoded_size(1200 % 64);
  Bytes bad = offer(0, 0);
  // All bits set are NaNs in every codec; the end of the bucket, after a good block.
  std::fill(bad.end() - static_cast<std::ptrdiff_t>(width), bad.end(), std::byte{0xff});
  Bytes d(bad.size());
  EXPECT_FALSE(mixers_[1]->answer(0, codec_, bad, 2, d).applied);
  EXPECT_FALSE(mixers_[1]->complete(0, codec_, offer(1, 0), bad, 2).applied);
  EXPECT_FALSE(mixers_[1]->merge(0, codec_, {offer(1, 0)}, {bad}).applied);
  EXPECT_FALSE(mixers_[1]->adopt(0, Bytes(4 * 1200, std::byte{0xff})).applied);
  EXPECT_FALSE(mixers_[1]->absorb(0, *codec, bad, 0.5).applied);
  expect_sums(before);
  x_[0][0] = kNaN;
  EXPECT_FALSE(mixers_[0]->fold(x_[0]).finite);
  Bytes out = room(0);
  EXPECT_FALSE(mixers_[0]->offer(0, codec_, out).applied);
  Bytes copy(4 * 1200);
  EXPECT_FALSE(mixers_[0]->copy(0, copy).applied);
  Bytes other = room(1);
  EXPECT_TRUE(mixers_[0]->offer(1, codec_, other).applied);
}

TEST_P(Two, adopting_makes_x_the_neighbours_at_the_next_fold) {
  for (std::uint32_t b = 0; b < mixers_[0]->bucket_count(); ++b) {
    const bool telemetry = b == mixers_[0]->telemetry_bucket();
    Bytes s(telemetry ? mixers_[0]->telemetry_bytes() : 4 * mixers_[0]->floats(b));
    ASSERT_TRUE(mixers_[0]->copy(b, s).applied);
    ASSERT_TRUE(mixers_[1]->adopt(b, s).applied);
  }
  (void)mixers_[1]->fold(x_[1]);
  for (std::size_t i = 0; i < kFloats; ++i) ASSERT_NEAR(x_[1][i], x_[0][i], 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Codecs, Two, ::testing::ValuesIn(test::dense_codecs()),
                         [](const auto& info) { return test::codec_name(info.param); });

/// Holds the bucket's lock from inside encode() until released.
class Holding : public Codec {
 public:
  std::size_t encoded_size(std::size_t floats) const override {
    return inner_->encoded_size(floats);
  }
  bool encode(std::span<const float> values, std::span<std::byte> out) const override {
    entered_.set_value();
    released_.wait();
    return inner_->encode(values, out);
  }
  bool decode(std::span<const std::byte> in, std::span<float> out) const override {
    return inner_->decode(in, out);
  }
  void wait_entered() { entered_.get_future().wait(); }
  void release() { release_.set_value(); }

 private:
  std::unique_ptr<const Codec> inner_ = make_codec(kExact);
  mutable std::promise<void> entered_;
  std::promise<void> release_;
  std::shared_future<void> released_ = release_.get_future().share();
};

TEST(Mixer, a_bucket_in_work_is_folded_at_a_later_boundary_and_z_stays_right) {
  const Layout layout = Layout::flat(12, 4);
  std::vector<float> x(12, 1.0F);
  Mixer mixer(layout, x, std::vector<double>{0.0});
  DenseEdgeCodec fp32;
  std::vector<float> threes(4, 3.0F);
  Bytes d(16);
  ASSERT_TRUE(mixer.answer(1, fp32, std::as_bytes(std::span(threes)), 2, d).applied);
  // p of bucket 1 is 1 now
  auto owned = std::make_unique<Holding>();
  Holding& holding = *owned;
  DenseEdgeCodec held({std::move(owned), 9}, {make_codec(kExact), kExact});
  Bytes out(16);
  std::thread background([&] { EXPECT_TRUE(mixer.offer(1, held, out).applied); });
  holding.wait_entered();
  for (float& v : x) v += 10;  // a local step
  const FoldReport first = mixer.fold(x);
  EXPECT_EQ(first.folded, 2U);
  EXPECT_EQ(first.deferred, 1U);
  EXPECT_EQ(x[4], 11.0F) << "not folded";
  EXPECT_EQ(x[0], 11.0F);
  holding.release();
  background.join();
  std::vector<float> z(12);
  mixer.read_z(z);
  EXPECT_EQ(z[4], 2.0F) << "as before the step: the network sees it later";
  const FoldReport second = mixer.fold(x);
  EXPECT_EQ(second.deferred, 0U);
  EXPECT_EQ(x[4], 12.0F) << "step and delta are both kept";
  mixer.read_z(z);
  EXPECT_EQ(z[4], 12.0F);
}

TEST(Mixer, of_a_model_without_parameters_averages_its_telemetry) {
  const Layout empty = Layout::flat(0);
  Mixer one(empty, {}, std::vector<double>{1}), two(empty, {}, std::vector<double>{3});
  ASSERT_EQ(one.bucket_count(), 1U);
  DenseEdgeCodec codec;
  Bytes s(one.telemetry_bytes()), d(s.size());
  EXPECT_TRUE(one.offer(0, codec, s).applied);
  EXPECT_TRUE(two.answer(0, codec, s, 2, d).applied);
  EXPECT_TRUE(one.complete(0, codec, s, d, 2).applied);
  for (Mixer* const mixer : {&one, &two}) {
    const FoldReport report = mixer->fold({});
    EXPECT_TRUE(report.finite);
    EXPECT_EQ(report.folded + report.deferred, 0U);
    double mean = 0;
    mixer->read_telemetry_z({&mean, 1});
    EXPECT_EQ(mean, 2);
  }
}

TEST(Mixer, huge_values_saturate_in_fp16_and_keep_the_sum) {
  const Layout layout = Layout::flat(4, 4);
  DenseEdgeCodec fp16 = edge_codec(parse_codec("fp16").number);
  std::vector<float> a(4, 1e6F), b(4, -1e6F);
  Mixer left(layout, a, {}), right(layout, b, {});
  Bytes s(8), d(8);
  ASSERT_TRUE(left.offer(0, fp16, s).applied);
  ASSERT_TRUE(right.answer(0, fp16, s, 2, d).applied);
  ASSERT_TRUE(left.complete(0, fp16, s, d, 2).applied);
  (void)left.fold(a);
  (void)right.fold(b);
  EXPECT_EQ(a[0] + b[0], 0.0F);
  EXPECT_LT(a[0], 1e6F);
}

TEST(MixerThreads, a_request_that_is_closed_stays_closed_while_others_are_answered) {
  const Layout layout = Layout::flat(64, 64);
  const std::vector<float> x = noise(1, 64);
  Mixer mixer(layout, x, {});
  mixer.segment().admit(true);
  DenseEdgeCodec codec;
  std::atomic<bool> over = false;
  std::atomic<int> answered = 0;
  // A neighbour that averages in shared memory, and so counts answers in the same word.
  std::thread asker([&] {
    Mixer neighbour(layout, noise(2, 64), {});
    while (!over) {
      if (neighbour.average_shared(0, mixer.segment(), false).applied) ++answered;
    }
  });
  std::vector<std::byte> offer(64 * sizeof(float));
  int reopened = 0;
  for (int i = 0; answered < 1'000'000 && i < 3'000'000; ++i) {
    (void)mixer.offer(0, codec, offer);
    mixer.close_request(0);
    const BucketGuard guard = BucketGuard::wait(mixer.segment().control(0));
    if (mixer.segment().control(0).answers_left != 0) ++reopened;
  }
  over = true;
  asker.join();
  EXPECT_EQ(reopened, 0) << "times that an answer under way undid close()";
}

/// Initial weights walk over the grid bit for bit, or their hash would be another.
TEST(Mixer, a_newcomer_hands_on_initial_weights_bit_for_bit) {
  const Layout layout = Layout::flat(3, 3);
  const std::vector<float> first = {-0.0F, 0.0F, 1.5F};
  std::vector<float> x = {7, 7, 7};
  Mixer origin(layout, first, {}), next(layout, x, {});
  Bytes sent(3 * sizeof(float));
  ASSERT_TRUE(origin.copy(0, sent).applied);
  EXPECT_TRUE(std::ranges::equal(sent, std::as_bytes(std::span(first))));
  ASSERT_TRUE(next.begin_with(0, sent).applied);
  Bytes on(3 * sizeof(float));
  ASSERT_TRUE(next.copy(0, on).applied);
  EXPECT_EQ(on, sent);
  next.undo_step(x);
  (void)next.fold(x);
  EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(x)), sent));
  ASSERT_TRUE(next.copy(0, on).applied);
  EXPECT_EQ(on, sent) << "after it has begun, before anything has come";
}

TEST(Mixer, a_copy_of_y_takes_the_lock_of_each_bucket_and_leaves_out_what_another_holds) {
  const Layout layout = Layout::flat(10, 4);
  const std::vector<float> x(10, 1);
  Mixer mixer(layout, x, {}, Segment(layout, 0, Segment::Reach::kShared));
  EXPECT_EQ(mixer.copy_y(), x);
  const BucketGuard held = BucketGuard::try_once(mixer.segment().control(1));
  EXPECT_EQ(mixer.copy_y(), (std::vector<float>{1, 1, 1, 1, 0, 0, 0, 0, 1, 1}));
}

}  // namespace
}  // namespace stencil
