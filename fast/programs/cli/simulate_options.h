#pragma once

#include <map>
#include <string>
#include <vector>

#include "stencil/sim/simulator.h"

namespace CLI {
class App;
}

namespace fast {

/// The options of fast simulate, as text where they need a parser of their own.
struct SimulateQuery {
  std::string topology = "torus:64x64", objective = "quadratic";
  stencil::ExchangeOptions exchange{.settle_target = 1e-4, .settle_deadline = 60};
  int dimension = 32;
  double learning_rate = 0.1, noise = 1;
  int bucket_floats = 0;
  int steps = 30, rows = 15;
  double step_time = 0.1, jitter = 0.1;
  double latency = 0.005, latency_jitter = 0, bandwidth = 0;
  std::vector<std::string> links, breaks, slow, kills, restarts, records;
  std::uint64_t seed = 1;
  bool finish = false, json = false, csv = false;
};

/// An event of a worker: it dies, or starts again.
struct SimulatedEvent {
  double time = 0;  ///< virtual seconds
  stencil::Rank rank = 0;
  bool restart = false;  ///< otherwise it dies
};

/// Adds the options to `app`, bound to `query`, which must outlive the parsing. Returns the
/// beginnings of each option's values, by flag.
std::map<std::string, std::vector<std::string>> bind_simulate_options(CLI::App& app,
                                                                      SimulateQuery& query);

/// Checks everything and builds the configuration. Throws ConfigError.
[[nodiscard]] stencil::sim::SimulationConfig simulation_config(const SimulateQuery& query);

/// The events of --kill and --restart, sorted by time. Throws ConfigError.
[[nodiscard]] std::vector<SimulatedEvent> simulated_events(const SimulateQuery& query,
                                                           const stencil::Topology& topology);

/// Where --record wants which worker: files by rank. Throws ConfigError.
[[nodiscard]] std::map<stencil::Rank, std::string> recorded(const SimulateQuery& query,
                                                            const stencil::Topology& topology);

}  // namespace fast
