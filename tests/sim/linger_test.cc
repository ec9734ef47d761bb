// Boundaries that wait for their own sweeps: models are averaged before the next gradient is taken.
#include <gtest/gtest.h>

#include "tests/support/sim_cases.h"

namespace stencil {
namespace {

constexpr std::uint64_t kSteps = 60;

struct Seen {
  double apart = 0;  ///< rms distance from the mean while gradients are taken, relative to it
  std::uint64_t steps = 0;
};

/// Steps of 0.1 s on torus:4x4, sampled whenever a step has just ended everywhere or is in
/// progress.
Seen run(double linger, double latency) {
  sim::SimulationConfig config = test::plain_config();
  config.topology = Topology::parse("torus:4x4");
  config.exchange.linger = linger;
  config.exchange.sweeps = 3;
  config.link.latency = latency;
  config.steps = kSteps;
  config.bucket_floats = 64;
  config.seed = test::case_seed(9000);
  const auto objective = sim::make_quadratic(config.topology.size(), 256, 0.1, 1.0, config.seed);
  sim::Simulation simulation(config, *objective);
  Seen seen;
  constexpr int kLooks = 400;
  for (int look = 1; look <= kLooks; ++look) {
    simulation.run_until(simulation.end_time() * look / kLooks);
    if (2 * look > kLooks) seen.apart += simulation.snapshot().consensus_distance / (kLooks / 2.0);
  }
  seen.steps = simulation.snapshot().steps / static_cast<std::uint64_t>(simulation.size());
  EXPECT_LT(simulation.status(0).relative_distance, 10);
  return seen;
}

TEST(LingerRun, TakesGradientsNearTheMean) {
  const Seen without = run(0, 1e-5), with = run(0.05, 1e-5);
  EXPECT_GT(without.apart, 0);
  EXPECT_LT(with.apart, without.apart / 2);
  EXPECT_GE(with.steps, without.steps * 95 / 100) << "it waits no longer than its sweeps take";
}

TEST(LingerRun, WaitsForItsShareAtMost) {
  const Seen without = run(0, 2e-3), with = run(0.1, 2e-3);
  EXPECT_GE(with.steps, static_cast<std::uint64_t>(static_cast<double>(without.steps) / 1.1) - 1);
}

TEST(LingerRun, WhereLinksAreTooSlowForItNobodyWaits) {
  EXPECT_GE(run(0.2, 0.3).steps, run(0, 0.3).steps - 1) << "sweeps take longer than a step";
  EXPECT_GE(run(0.1, 0.02).steps, run(0, 0.02).steps - 1) << "they do not, but than its share";
}

}  // namespace
}  // namespace stencil
