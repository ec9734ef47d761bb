#include "stencil/runtime/pacer.h"

#include <gtest/gtest.h>

namespace stencil {
namespace {

using std::chrono::milliseconds;

TEST(Pacer, without_a_rate_is_always_open) {
  Pacer pacer;
  pacer.take(1'000'000'000);
  EXPECT_TRUE(pacer.open());
  EXPECT_FALSE(pacer.paces());
}

TEST(Pacer, in_the_long_run_no_more_is_sent_than_the_rate) {
  constexpr double kRate = 1000;
  constexpr std::size_t kFrame = 300;
  Pacer pacer(kRate);
  TimePoint now{milliseconds(5000)};
  const TimePoint end = now + std::chrono::seconds(100);
  std::size_t sent = 0;
  for (pacer.advance(now); now < end; pacer.advance(now)) {
    while (pacer.open()) {
      pacer.take(kFrame);
      sent += kFrame;
    }
    ASSERT_GT(pacer.opens(), now);
    now = pacer.opens();
  }
  EXPECT_LE(sent, 100 * kRate + kRate * Pacer::kBurst + kFrame);
  EXPECT_GE(sent, 98 * kRate) << "and hardly less";
}

TEST(Pacer, a_silence_gives_no_more_than_a_burst) {
  Pacer pacer(1000);
  pacer.advance(TimePoint{milliseconds(1)});
  pacer.advance(TimePoint{std::chrono::hours(24)});
  pacer.take(251);
  EXPECT_FALSE(pacer.open());
}

TEST(Pacer, what_must_not_be_late_makes_a_debt) {
  Pacer pacer(1000);
  TimePoint now{milliseconds(1)};
  pacer.advance(now);
  pacer.take(2250);  // the burst and two seconds
  pacer.advance(now + milliseconds(1999));
  EXPECT_FALSE(pacer.open());
  pacer.advance(now + milliseconds(2001));
  EXPECT_TRUE(pacer.open());
}

}  // namespace
}  // namespace stencil
