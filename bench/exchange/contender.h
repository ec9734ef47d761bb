#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "stencil/core/topology.h"

namespace fast::exchange_bench {

/// Where one process of a measurement stands, and what it exchanges.
struct Site {
  int rank = 0;
  stencil::Topology topology = stencil::Topology::parse("ring:1");
  std::size_t floats = 0;
  std::filesystem::path meeting;  ///< a folder that all processes share
  int rounds = 10;                ///< for those who go in step
  double seconds = 5;             ///< for those who do not
  double step_seconds = 0.02;     ///< for those who are paced
};

/// What one process saw.
struct Measured {
  double seconds = 0;          ///< wall time of one round
  double cpu_seconds = 0;      ///< of this process, all its threads, in one round
  double bytes = 0;            ///< sent in one round, where the contender counts them
  double memory_bytes = 0;     ///< the process's own at the end: shared pages in shares
  std::vector<double> stalls;  ///< seconds for which a training thread was held up, each time
};

/// One way in which N workers bring their models closer together. A round is one whole model
/// exchanged by every worker: averaged with one neighbour (a sweep), with all neighbours, or with
/// everybody, by the contender's nature.
class Contender {
 public:
  virtual ~Contender() = default;
  /// Meets the others, warms up, measures; returns when all have measured. Throws where they do
  /// not come.
  virtual Measured measure() = 0;
};

/// Sweeps without a pause, in shared memory or over tcp; or one a step, by a training loop that
/// only waits.
[[nodiscard]] std::unique_ptr<Contender> make_fast(const Site& site);
[[nodiscard]] std::unique_ptr<Contender> make_fast_tcp(const Site& site);
[[nodiscard]] std::unique_ptr<Contender> make_fast_zmq(const Site& site);
[[nodiscard]] std::unique_ptr<Contender> make_fast_keys(const Site& site);
[[nodiscard]] std::unique_ptr<Contender> make_fast_paced(const Site& site);
[[nodiscard]] std::unique_ptr<Contender> make_fast_tcp_paced(const Site& site);
[[nodiscard]] std::unique_ptr<Contender> make_gloo(const Site& site);
[[nodiscard]] std::unique_ptr<Contender> make_sockets(const Site& site);
[[nodiscard]] std::unique_ptr<Contender> make_memory(const Site& site);

}  // namespace fast::exchange_bench
