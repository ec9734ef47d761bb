// Steps of microseconds, much shorter than an exchange: training must not end before its first.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <random>
#include <string>

#include "tests/integration/session/session_fixture.h"

namespace fast {
namespace {

constexpr std::array kRight = {3.0F, -2.0F, 0.5F};
constexpr std::uint64_t kBatch = 8, kSteps = 2000;

/// Fits y = 3a - 2b + 0.5; each of the two workers sees one of the features alone, so neither can
/// find all three numbers without the other.
struct Regression {
  void step() {
    std::array<float, 3> gradient{};
    loss = 0;
    for (std::uint64_t i = 0; i < kBatch; ++i) {
      const float a = rank == 0 ? feature(random) : 0, b = rank == 1 ? feature(random) : 0;
      const float error = weights[0] * a + weights[1] * b + weights[2] -
                          (kRight[0] * a + kRight[1] * b + kRight[2]);
      gradient[0] += error * a / kBatch;
      gradient[1] += error * b / kBatch;
      gradient[2] += error / kBatch;
      loss += error * error / kBatch;
    }
    for (std::size_t k = 0; k < 3; ++k) weights[k] -= 0.2F * gradient[k];
  }
  int rank;
  float loss = 0;
  std::vector<float> weights = std::vector<float>(3);
  std::mt19937 random{100U + static_cast<unsigned>(rank)};
  std::uniform_real_distribution<float> feature{0, 1};
};

struct Way {
  const char* name;
  const char* mode;
  const char* share_memory;
};

class QuickStepsTest : public SessionTest, public ::testing::WithParamInterface<Way> {
 protected:
  /// Port 0 is only known once the first session is open, so one dials the other.
  [[nodiscard]] SessionOptions options_of(int rank) const {
    SessionOptions of = options("ring:2", rank, GetParam().mode);
    of.listen = "tcp://127.0.0.1:0";
    of.peer_template.clear();
    of.exchange.share_memory = GetParam().share_memory;
    of.budget = 2 * kSteps * kBatch;
    return of;
  }
};

TEST_P(QuickStepsTest, AreAveragedFromTheFirstOn) {
  for (int run = 0; run < 10; ++run) {
    SCOPED_TRACE("run " + std::to_string(run));
    Regression first{0}, second{1};
    FlatAdapter first_adapter(first.weights), second_adapter(second.weights);
    Session zero(first_adapter, options_of(0));
    SessionOptions dials = options_of(1);
    dials.peers[0] = zero.endpoint();
    Session one(second_adapter, dials);
    std::array<std::uint64_t, 2> steps{};
    in_threads(2, [&](int rank) {
      Session& session = rank == 0 ? zero : one;
      Regression& worker = rank == 0 ? first : second;
      session.join();
      while (!session.done()) {
        worker.step();
        session.exchange({.samples = kBatch, .loss = worker.loss});
      }
      steps[static_cast<std::size_t>(rank)] = session.steps();
      EXPECT_EQ(session.finish(), Agreement::kAgreed);
    });
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(first.weights[k], kRight[k], 0.15) << k << " after " << steps[0] << " steps";
      EXPECT_NEAR(second.weights[k], kRight[k], 0.15) << k << " after " << steps[1] << " steps";
    }
    EXPECT_GT(steps[0] + steps[1], 2 * kSteps * 98 / 100) << "the budget was not used";
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, QuickStepsTest,
                         ::testing::Values(Way{"async", "async", "never"},
                                           Way{"async_shared", "async", "auto"},
                                           Way{"bounded", "bounded:1", "never"},
                                           Way{"bounded_shared", "bounded:1", "auto"}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace fast
