#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "adapters/c/fast.h"
#include "tests/integration/c/c_worker.h"

namespace {

using fast::test::both;
using fast::test::Worker;
using ::testing::HasSubstr;

TEST(CMomentum, FollowsWhatTheNeighbourMovesAParameterBy) {
  Worker first(0), second(1);
  first.set("mode", "sync");
  second.set("mode", "sync");
  both(first, second, [](Worker& worker) {
    ASSERT_EQ(fast_join(worker.session), FAST_OK) << fast_error(worker.session);
    worker.step();
    const std::vector<float> before = worker.x;
    std::vector<float> matrix(4, 1), scalar(1, 1);
    EXPECT_EQ(fast_momentum(worker.session, 0, matrix.data(), 0.2, 0.9, 0.5), FAST_OK);
    EXPECT_EQ(fast_momentum(worker.session, 1, scalar.data(), 0.2, 0.9, 0.5), FAST_OK);
    EXPECT_EQ(fast_momentum(worker.session, 1, nullptr, 0, 0, 0), FAST_OK);
    ASSERT_EQ(fast_exchange(worker.session, 1, 0), FAST_OK) << fast_error(worker.session);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_NE(worker.x[i], before[i]);
      EXPECT_NEAR(matrix[i], 1 - 0.5F / 0.2F * (worker.x[i] - before[i]), 1e-5F) << i;
    }
    EXPECT_EQ(scalar[0], 1) << "it has none any more";
    EXPECT_EQ(fast_momentum(worker.session, 0, nullptr, 0, 0, 0), FAST_OK);
    ASSERT_EQ(fast_finish(worker.session, nullptr), FAST_OK) << fast_error(worker.session);
  });
}

TEST(CMomentum, OfNoParameterOrByNoShareIsRefused) {
  Worker worker(0);
  float momentum[4] = {};
  EXPECT_EQ(fast_momentum(worker.session, 0, momentum, 0.1, 0.9, 0.5), FAST_USAGE) << "not open";
  worker.open();
  EXPECT_EQ(fast_momentum(worker.session, 2, momentum, 0.1, 0.9, 0.5), FAST_USAGE);
  EXPECT_THAT(fast_error(worker.session), HasSubstr("parameter 2 of 2"));
  EXPECT_EQ(fast_momentum(worker.session, 0, momentum, 0.1, 0.9, 1.5), FAST_USAGE);
  EXPECT_THAT(fast_error(worker.session), HasSubstr("share 1.5"));
  EXPECT_EQ(fast_momentum(worker.session, 0, momentum, std::nan(""), 0.9, 1), FAST_USAGE);
}

}  // namespace
