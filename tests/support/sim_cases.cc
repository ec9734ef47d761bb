#include "tests/support/sim_cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "stencil/mix/codecs/kinds.h"
#include "tests/support/topologies.h"

namespace stencil::test {

std::uint64_t case_seed(std::uint64_t index) {
  const auto base = static_cast<std::uint64_t>(GTEST_FLAG_GET(random_seed));
  return Random::derive(base, index);
}

int runs_of(int all) {
#ifdef FAST_SANITIZED
  return (all + 4) / 5;
#else
  return all;
#endif
}

Topology topology_of(const std::string& name) {
  constexpr std::string_view kStar = "star:";
  if (!name.starts_with(kStar)) return Topology::parse(name);
  std::string edges;
  for (int leaf = 1; leaf < std::stoi(name.substr(kStar.size())); ++leaf) {
    edges += "0 " + std::to_string(leaf) + "\n";
  }
  return Topology::from_edges(edges, name);
}

sim::SimulationConfig plain_config() {
  sim::SimulationConfig config;
  config.exchange = bare_exchange();
  config.exchange.sweeps = 1;
  config.adopt = false;  // the mean stays what it is
  config.exchange.settle_target = 1e-4;
  config.exchange.settle_deadline = 60;
  return config;
}

namespace {

std::vector<std::string> small_topologies() {
  std::vector<std::string> names = topology_examples();
  std::erase_if(names, [](const std::string& name) {
    const int size = Topology::parse(name).size();
    return size < 2 || size > 16;
  });
  names.insert(names.end(), {"ring:5", "ring:12", "torus:2x3", "torus:3x3", "star:5"});
  return names;
}

}  // namespace

SimCase random_case(std::uint64_t seed, CodecSpec codec) {
  const std::vector<std::string> names = small_topologies();
  Random random(seed);
  SimCase made;
  sim::SimulationConfig& c = made.config;
  const std::string& name = names[random.below(names.size())];
  c.topology = topology_of(name);
  c.exchange.codec = stencil::name(codec);
  c.seed = seed;
  c.bucket_floats = 8U << random.below(3);
  made.dimension = 32 + random.below(33);
  c.step_seconds = 0.02;
  c.step_jitter = std::array{0.0, 0.3, 2.0}[random.below(3)];
  constexpr std::array kLatency = {0.0005, 0.001, 0.02, 0.06, 0.2};  // 0.2: ten steps
  c.link.latency = kLatency[random.below(kLatency.size())];
  c.link.jitter = random.below(2) == 0 ? 0.0 : c.link.latency * 2;
  if (random.below(4) == 0) c.link.bandwidth = 200'000;
  constexpr std::array<double, 5> kSweeps = {0.25, 1, 1, 2, 4};
  c.exchange.sweeps = kSweeps[random.below(kSweeps.size())];
  c.exchange.window = static_cast<int>(1 + random.below(6));
  const auto edges = c.topology.edges();
  std::string odd;
  if (random.below(3) == 0) {
    const auto& slow = edges[random.below(edges.size())];
    c.links[slow] = c.link;
    c.links[slow].latency = std::clamp(c.link.latency * 100, 0.1, 2.0);
    odd += " slow edge " + std::to_string(slow.first) + "-" + std::to_string(slow.second);
  }
  if (random.below(3) == 0) {
    const auto rank = static_cast<Rank>(random.below(c.topology.size()));
    c.slow[rank] = 50;
    odd += " slow worker " + std::to_string(rank);
  }
  // Long enough for every edge to have come up: a handshake takes five times the latency.
  const double slowest = c.links.empty() ? c.link.latency : c.links.begin()->second.latency;
  c.steps = 60 + static_cast<std::uint64_t>(7 * (slowest + c.link.jitter) / c.step_seconds);
  c.finish = true;
  c.exchange.settle_deadline = 2000;
  if (seed % 3 == 0) c.exchange.linger = 0.5;
  if (seed % 6 == 0) c.exchange.phase_lock = 0.3;
  made.text = "seed " + std::to_string(seed) + ": " + name + " latency " +
              std::to_string(c.link.latency) + " jitter " + std::to_string(c.link.jitter) +
              " sweeps " + std::to_string(*c.exchange.sweeps) + " window " +
              std::to_string(c.exchange.window) + " linger " + std::to_string(c.exchange.linger) +
              " phase lock " + std::to_string(c.exchange.phase_lock) + odd;
  return made;
}

std::vector<float> all_models(const sim::Simulation& simulation) {
  std::vector<float> all;
  for (Rank rank = 0; rank < simulation.size(); ++rank) {
    const auto model = simulation.model(rank);
    all.insert(all.end(), model.begin(), model.end());
  }
  return all;
}

EngineCounters total_counters(const sim::Simulation& simulation) {
  EngineCounters sum;
  for (Rank rank = 0; rank < simulation.size(); ++rank) {
    const EngineCounters one = simulation.status(rank).engine;
    sum.sweeps += one.sweeps;
    sum.offers += one.offers;
    sum.answers += one.answers;
    sum.merges += one.merges;
    sum.declined += one.declined;
    sum.withdrawn += one.withdrawn;
    sum.lost_in_flight += one.lost_in_flight;
    sum.resynchronised += one.resynchronised;
    sum.stale_frames += one.stale_frames;
    sum.duplicates += one.duplicates;
    sum.gaps += one.gaps;
    sum.refusals += one.refusals;
    sum.suspected += one.suspected;
    sum.gone += one.gone;
    sum.returned += one.returned;
    sum.shares += one.shares;
    sum.shares_declined += one.shares_declined;
    sum.held += one.held;
    sum.skipped += one.skipped;
  }
  return sum;
}

double spread2(const sim::Simulation& simulation, const std::vector<Rank>& of) {
  std::vector<double> mean(simulation.model(0).size());
  for (const Rank rank : of) {
    const auto x = simulation.model(rank);
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += x[i] / static_cast<double>(of.size());
  }
  double sum = 0;
  for (const Rank rank : of) {
    const auto x = simulation.model(rank);
    for (std::size_t i = 0; i < mean.size(); ++i) sum += (x[i] - mean[i]) * (x[i] - mean[i]);
  }
  return sum;
}

}  // namespace stencil::test
