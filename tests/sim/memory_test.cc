// A worker's memory for buckets in flight is one budget, however many neighbours it has.
#include <gtest/gtest.h>

#include <string>

#include "stencil/sim/simulator.h"
#include "tests/support/sim_cases.h"

namespace stencil::sim {
namespace {

/// The most buckets that the middle worker of `workers` had in flight or kept at once.
std::size_t most_payloads(int workers, std::size_t buckets) {
  SimulationConfig config = test::plain_config();
  std::string star;
  for (int i = 1; i < workers; ++i) star += "0 " + std::to_string(i) + "\n";
  config.topology = Topology::from_edges(star, "edges:star");
  config.bucket_floats = 16;
  config.exchange.sweeps = 3;
  config.steps = 20;
  config.link.latency = 0.03;
  const auto objective = make_agreement(16 * buckets, 1);
  Simulation simulation(config, *objective);
  simulation.run_until(2);
  return simulation.status(0).payloads;
}

TEST(Memory, OfBucketsUnderWayIsOneBudgetWhateverTheNeighboursAndTheModel) {
  const EngineConfig engine;
  // A reply is written before it is known whether it must be kept.
  const std::size_t budget = engine.window_total + engine.retained_total + 1;
  const std::size_t few = most_payloads(3, 40);
  EXPECT_LE(few, budget);
  for (const int workers : {17, 33}) {
    for (const std::size_t buckets : {40U, 200U}) {
      const std::size_t many = most_payloads(workers, buckets);
      EXPECT_LE(many, budget) << workers << " workers, " << buckets << " buckets";
      EXPECT_GT(many, engine.retained_total) << "the budget was not put to the test";
    }
  }
}

}  // namespace
}  // namespace stencil::sim
