// Workers that keep in step by waiting a little for neighbours about to end theirs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <vector>

#include "tests/support/sim_cases.h"

namespace stencil {
namespace {

constexpr double kStep = 0.1;  // seconds
constexpr int kWarm = 60;      // steps until phases have come together

struct Seen {
  double apart = 0;           ///< mean distance to the nearest boundary of a neighbour, in steps
  std::vector<double> steps;  ///< by worker
};

sim::SimulationConfig config_of(const char* topology, double phase_lock) {
  sim::SimulationConfig config = test::plain_config();
  config.topology = Topology::parse(topology);
  config.exchange.linger = 0.1;
  config.exchange.phase_lock = phase_lock;
  config.exchange.sweeps = 2;
  config.step_seconds = kStep;
  config.link.latency = 1e-4;
  config.steps = 200;
  config.bucket_floats = 64;
  config.seed = test::case_seed(9500);
  return config;
}

/// Each rank comes in `later` steps after the one before it.
Seen run(const sim::SimulationConfig& config, double later = 0) {
  const int size = config.topology.size();
  const auto objective = sim::make_quadratic(size, 256, 0.1, 1.0, config.seed);
  sim::Simulation simulation(config, *objective);
  std::vector<std::vector<double>> boundaries(static_cast<std::size_t>(size));
  Rank in = later > 0 ? 1 : size;
  for (Rank rank = in; rank < size; ++rank) simulation.kill(rank);
  for (double now = 0; now < simulation.end_time(); now += kStep / 100) {
    simulation.run_until(now);
    for (; in < size && now >= later * in * kStep; ++in) simulation.restart(in);
    for (Rank rank = 0; rank < size; ++rank) {
      auto& mine = boundaries[static_cast<std::size_t>(rank)];
      if (simulation.steps_of(rank) > mine.size()) mine.push_back(now);
    }
  }
  Seen seen;
  double apart = 0;
  std::size_t looked = 0;
  for (Rank rank = 0; rank < size; ++rank) {
    const auto& mine = boundaries[static_cast<std::size_t>(rank)];
    seen.steps.push_back(static_cast<double>(mine.size()));
    for (std::size_t i = kWarm; i + 2 < mine.size(); ++i) {
      for (const Rank other : config.topology.neighbours(rank)) {
        double nearest = 1e9;
        for (const double theirs : boundaries[static_cast<std::size_t>(other)]) {
          nearest = std::min(nearest, std::abs(theirs - mine[i]));
        }
        apart += nearest / kStep;
        ++looked;
      }
    }
  }
  seen.apart = apart / static_cast<double>(looked);
  return seen;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// Prints the effect of the phase lock.
void tell(const sim::SimulationConfig& config, const Seen& without, const Seen& with) {
  std::cout << std::setprecision(3) << config.topology.spec() << ", steps vary by "
            << config.step_jitter << ": neighbours " << without.apart
            << " of a step apart without it, " << with.apart << " with it, which costs "
            << 100 * (1 - mean(with.steps) / mean(without.steps)) << " % of the steps\n";
}

TEST(PhaseLockRun, KeepsEqualWorkersInStepWhoseStepsVary) {
  for (const char* topology : {"torus:2x4", "ring:6", "torus:4x4", "torus:8x8"}) {
    sim::SimulationConfig without = config_of(topology, 0), with = config_of(topology, 0.15);
    without.step_jitter = with.step_jitter = 0.1;
    const Seen apart = run(without), together = run(with);
    tell(with, apart, together);
    EXPECT_GT(apart.apart, 0.15) << topology << ": nothing to be held together";
    EXPECT_LT(together.apart, 0.06) << topology;
    EXPECT_GT(mean(together.steps), 0.95 * mean(apart.steps)) << topology;
  }
}

TEST(PhaseLockRun, BearsStepsThatVaryMuch) {
  for (const char* topology : {"torus:2x4", "torus:4x4", "torus:8x8"}) {
    sim::SimulationConfig without = config_of(topology, 0), with = config_of(topology, 0.15);
    without.step_jitter = with.step_jitter = 0.3;
    const Seen apart = run(without), together = run(with);
    tell(with, apart, together);
    EXPECT_LT(together.apart, 0.15) << topology;
    EXPECT_GT(mean(together.steps), 0.9 * mean(apart.steps)) << topology;
  }
}

/// While workers are out of step, an offer held here for a part that is not ready holds up others
/// in turn.
TEST(PhaseLockRun, BringsWorkersTogetherThatBeginApartAlsoWithStepsMadeInParts) {
  for (const bool overlap : {false, true}) {
    sim::SimulationConfig without = config_of("torus:2x4", 0), with = config_of("torus:2x4", 0.15);
    without.step_jitter = with.step_jitter = 0.1;
    without.exchange.overlap = with.exchange.overlap = overlap;
    const Seen apart = run(without, 0.12), together = run(with, 0.12);
    tell(with, apart, together);
    EXPECT_LT(together.apart, 0.06);
    EXPECT_GT(mean(together.steps), 0.95 * mean(apart.steps));
  }
}

TEST(PhaseLockRun, NobodyWaitsForASlowWorker) {
  for (const double factor : {1.2, 1.4, 4.0}) {
    sim::SimulationConfig without = config_of("torus:2x4", 0), with = config_of("torus:2x4", 0.15);
    without.step_jitter = with.step_jitter = 0.05;
    without.slow[3] = with.slow[3] = factor;
    const Seen apart = run(without), together = run(with);
    for (std::size_t rank = 0; rank < apart.steps.size(); ++rank) {
      EXPECT_GT(together.steps[rank], 0.97 * apart.steps[rank]) << factor << ": rank " << rank;
    }
  }
}

TEST(PhaseLockRun, CostsNothingWhereLinksAreTooSlowForIt) {
  sim::SimulationConfig without = config_of("torus:2x4", 0), with = config_of("torus:2x4", 0.15);
  without.step_jitter = with.step_jitter = 0.3;
  without.link.latency = with.link.latency = 0.05;
  EXPECT_GT(mean(run(with).steps), 0.99 * mean(run(without).steps));
}

}  // namespace
}  // namespace stencil
