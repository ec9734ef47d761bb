#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fast/run/metrics.h"
#include "tests/support/process.h"

namespace fast::testing {

/// Polls `condition` until it holds (returns true) or the deadline passes (returns false).
[[nodiscard]] bool eventually(const std::function<bool()>& condition,
                              std::chrono::seconds deadline = kPatience);

/// Reads a run folder during the run.
class RunWatch {
 public:
  explicit RunWatch(std::filesystem::path run) : run_(std::move(run)) {}

  [[nodiscard]] const std::filesystem::path& path() const { return run_; }
  [[nodiscard]] std::filesystem::path worker(int rank) const;
  /// Empty (starts == 0) while there is none.
  [[nodiscard]] WorkerHistory history(int rank) const;
  [[nodiscard]] bool trains(int rank) const;  ///< has taken steps and sees a neighbour up
  [[nodiscard]] bool all_train(int workers) const;
  [[nodiscard]] std::uint64_t step(int rank) const;  ///< as of its last progress line
  /// Waits until each of `ranks` has taken ten more steps; returns false where `program` ends
  /// first.
  [[nodiscard]] bool all_go_on(Program& program, const std::vector<int>& ranks) const;
  /// Lines of `rank` about `neighbour`: "suspect", "gone", "up", ...
  [[nodiscard]] int events(int rank, const std::string& name, int neighbour) const;
  [[nodiscard]] std::string log(int rank) const;
  [[nodiscard]] nlohmann::json summary() const;
  [[nodiscard]] std::string run_id() const;
  /// The port that `rank` listens on; 0 while it is not published.
  [[nodiscard]] int port(int rank) const;

 private:
  std::filesystem::path run_;
};

/// rank -> pid of the fast-worker children of `parent`.
[[nodiscard]] std::map<int, pid_t> worker_pids(pid_t parent);

/// An established TCP connection of this machine as one process holds it.
struct Connection {
  int local_port = 0, remote_port = 0;
};
/// All of `pid`, from /proc/net/tcp{,6} and its descriptors.
[[nodiscard]] std::vector<Connection> connections_of(pid_t pid);

/// Resident memory in KiB, 0 where the process is gone.
[[nodiscard]] std::uint64_t resident_kib(pid_t pid);

}  // namespace fast::testing
