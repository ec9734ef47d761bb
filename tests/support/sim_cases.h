#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stencil/sim/simulator.h"

namespace stencil::test {

/// The seed of a randomised case: follows --gtest_random_seed, so that a failure can be replayed.
[[nodiscard]] std::uint64_t case_seed(std::uint64_t index);

/// How many of `all` runs of one kind a test makes: all of them, but a fifth under a sanitizer. The
/// seeds differ in when things happen, and most of what the code does happens in each of them.
[[nodiscard]] int runs_of(int all);

/// A topology by name; star:N (rank 0 in the middle) beside those of Topology::parse().
[[nodiscard]] Topology topology_of(const std::string& name);

/// The bare exchange: one sweep a step, and no boundary waits for anything.
[[nodiscard]] sim::SimulationConfig plain_config();

/// A simulated run and its name in failure messages.
struct SimCase {
  sim::SimulationConfig config = plain_config();
  std::string text;
  std::size_t dimension = 64;
};

/// Random and adversarial delays and speeds, drawn from `seed`: latencies up to ten steps, jitter,
/// one edge 100 times slower, one worker 50 times slower, steps of uneven length, several sweeps a
/// step or one in several steps, lingering or not, and the topologies of the product's list that
/// have 2 to 16 workers, with a few more and a star.
[[nodiscard]] SimCase random_case(std::uint64_t seed, CodecSpec codec);

/// The workers' models end to end, for bitwise comparison.
[[nodiscard]] std::vector<float> all_models(const sim::Simulation& simulation);

/// Sums of the engine's counters over all workers.
[[nodiscard]] EngineCounters total_counters(const sim::Simulation& simulation);

/// The sum of |x - mean over `of`|^2 over the ranks in `of`.
[[nodiscard]] double spread2(const sim::Simulation& simulation, const std::vector<Rank>& of);

}  // namespace stencil::test
