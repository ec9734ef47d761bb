#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "stencil/core/topology.h"

namespace fast::exchange_bench {

/// The place of one process in a measurement, and its model.
struct Site {
  int rank = 0;
  stencil::Topology topology = stencil::Topology::parse("ring:1");
  std::size_t floats = 0;
  std::filesystem::path meeting;  ///< a folder shared by all processes
  int rounds = 10;                ///< for contenders in step
  double seconds = 5;             ///< for other contenders
  double step_seconds = 0.02;     ///< for paced contenders
};

/// The measurements of one process.
struct Measured {
  double seconds = 0;          ///< wall time of one round
  double cpu_seconds = 0;      ///< of this process, all its threads, in one round
  double bytes = 0;            ///< sent in one round, where the contender counts them
  double memory_bytes = 0;     ///< own memory at the end; shared pages count in part
  std::vector<double> stalls;  ///< seconds of each interruption of a training thread
};

/// One way in which N workers bring their models closer together. In a round every worker exchanges
/// one whole model. Depending on the contender, it is averaged with one neighbour (a sweep), with
/// all neighbours, or with all workers.
class Contender {
 public:
  virtual ~Contender() = default;
  /// Meets the other processes, warms up and measures; returns when all have measured. Throws where
  /// the others do not come.
  virtual Measured measure() = 0;
};

/// Sweeps without a pause, in shared memory or over a network transport; or paced, one sweep a
/// step, with a training loop that only waits.
[[nodiscard]] std::unique_ptr<Contender> make_fast(const Site& site);
[[nodiscard]] std::unique_ptr<Contender> make_fast_tcp(const Site& site);
[[nodiscard]] std::unique_ptr<Contender> make_fast_zmq(const Site& site);
[[nodiscard]] std::unique_ptr<Contender> make_fast_tcp_keys(const Site& site);
[[nodiscard]] std::unique_ptr<Contender> make_fast_zmq_keys(const Site& site);
[[nodiscard]] std::unique_ptr<Contender> make_fast_paced(const Site& site);
[[nodiscard]] std::unique_ptr<Contender> make_fast_tcp_paced(const Site& site);
[[nodiscard]] std::unique_ptr<Contender> make_gloo(const Site& site);
[[nodiscard]] std::unique_ptr<Contender> make_sockets(const Site& site);
[[nodiscard]] std::unique_ptr<Contender> make_memory(const Site& site);

}  // namespace fast::exchange_bench
