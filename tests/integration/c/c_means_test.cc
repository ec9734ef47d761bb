// fast_mean(): one number that workers share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "adapters/c/fast.h"
#include "tests/integration/c/c_worker.h"

namespace {

using fast::test::both;
using fast::test::Worker;
using ::testing::HasSubstr;

TEST(CMeans, AreThoseOfBothWorkers) {
  Worker first(0), second(1);
  first.set("means", "val_loss");
  second.set("means", "val_loss");
  std::atomic<bool> known[2] = {};
  both(first, second, [&](Worker& worker) {
    fast_session* const session = worker.session;
    double mean = 0;
    EXPECT_EQ(fast_mean(session, "val_loss", NAN, &mean), FAST_OK);
    EXPECT_TRUE(std::isnan(mean));
    EXPECT_EQ(fast_mean(session, "val_loss", worker.target[0], nullptr), FAST_OK);
    ASSERT_EQ(fast_join(session), FAST_OK) << fast_error(session);
    const auto step = [&] {
      worker.step();
      EXPECT_EQ(fast_exchange(session, 1, 0), FAST_OK) << fast_error(session);
      EXPECT_EQ(fast_mean(session, "val_loss", NAN, &mean), FAST_OK);
    };
    while (!known[0] || !known[1]) {
      step();
      known[&worker == &second ? 1 : 0] = std::abs(mean - 1.5) < 1e-9;
    }
    EXPECT_EQ(fast_finish(session, nullptr), FAST_OK) << fast_error(session);
  });
}

TEST(CMeans, OfNoNameAreRefused) {
  Worker alone(0);
  EXPECT_EQ(fast_set(alone.session, "means", "a,a"), FAST_OK) << "said when it is opened";
  EXPECT_EQ(fast_open(alone.session), FAST_USAGE);
  EXPECT_THAT(fast_error(alone.session), HasSubstr("means has 'a' twice"));
  alone.set("means", "a");
  EXPECT_EQ(fast_mean(alone.session, "a", 1, nullptr), FAST_USAGE) << "not open yet";
  alone.open();
  EXPECT_EQ(fast_mean(alone.session, nullptr, 1, nullptr), FAST_USAGE);
  EXPECT_EQ(fast_mean(alone.session, "b", 1, nullptr), FAST_USAGE);
  EXPECT_THAT(fast_error(alone.session), HasSubstr("no mean 'b'"));
  EXPECT_EQ(fast_mean(alone.session, "a", 1, nullptr), FAST_OK);
}

}  // namespace
