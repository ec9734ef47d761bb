#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
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
    std::vector<float> wanted(4);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_NE(worker.x[i], before[i]);
      wanted[i] = 1 - 0.5F / 0.2F * (worker.x[i] - before[i]);
    }
    // It does not become longer than this worker has made it.
    const float length =
        std::hypot(std::hypot(wanted[0], wanted[1]), std::hypot(wanted[2], wanted[3]));
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(matrix[i], wanted[i] * std::min(1.0F, 2 / length), 1e-5F) << i;
    }
    EXPECT_EQ(scalar[0], 1) << "it has none any more";
    EXPECT_EQ(fast_momentum(worker.session, 0, nullptr, 0, 0, 0), FAST_OK);
    ASSERT_EQ(fast_finish(worker.session, nullptr), FAST_OK) << fast_error(worker.session);
  });
}

TEST(CMomentum, ChangesByNothingAtTheEndOfAScheduleThatWasResumedEither) {
  const std::string folder = ::testing::TempDir() + "c_momentum_" + std::to_string(getpid());
  // Below a hundredth of the highest rate, which only the first run has seen.
  for (const double rate : {1.0, 0.005}) {
    Worker first(0), second(1);
    for (Worker* const worker : {&first, &second}) {
      worker->set("mode", "sync");
      const std::string file = folder + (worker == &first ? ".0" : ".1");
      for (const char* const key : {"checkpoint", "resume"}) worker->set(key, file);
    }
    both(first, second, [&](Worker& worker) {
      ASSERT_EQ(fast_join(worker.session), FAST_OK) << fast_error(worker.session);
      worker.step();
      const std::vector<float> before = worker.x;
      std::vector<float> momentum(4, 1);
      EXPECT_EQ(fast_momentum(worker.session, 0, momentum.data(), rate, 0.9, 0.5), FAST_OK);
      ASSERT_EQ(fast_exchange(worker.session, 1, 0), FAST_OK) << fast_error(worker.session);
      for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_NE(worker.x[i], before[i]);
        EXPECT_EQ(momentum[i] == 1, rate < 1) << momentum[i] << " at " << rate;
      }
      ASSERT_EQ(fast_finish(worker.session, nullptr), FAST_OK) << fast_error(worker.session);
    });
  }
  for (const char* const rank : {".0", ".1"}) unlink((folder + rank).c_str());
}

TEST(CMomentum, OfNoParameterOrByNoShareIsRefused) {
  Worker worker(0);
  float momentum[4] = {};
  EXPECT_EQ(fast_momentum(worker.session, 0, momentum, 0.1, 0.9, 0.5), FAST_USAGE) << "not open";
  worker.open();
  EXPECT_EQ(fast_momentum(worker.session, 2, momentum, 0.1, 0.9, 0.5), FAST_USAGE);
  EXPECT_THAT(fast_error(worker.session), HasSubstr("array 2 of 2"));
  EXPECT_EQ(fast_momentum(worker.session, 0, momentum, 0.1, 0.9, 1.5), FAST_USAGE);
  EXPECT_THAT(fast_error(worker.session), HasSubstr("share 1.5"));
  EXPECT_EQ(fast_momentum(worker.session, 0, momentum, std::nan(""), 0.9, 1), FAST_USAGE);
}

}  // namespace
