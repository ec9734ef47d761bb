#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stencil/core/states.h"

namespace fast {

using stencil::LinkState;
using stencil::WorkerState;

/// One neighbour as a session sees it. Counters begin at 0 with the session.
struct NeighbourStatus {
  int rank = 0;
  LinkState link = LinkState::kConnecting;
  WorkerState state = WorkerState::kJoining;
  std::uint64_t step = 0;          ///< the last step that it has reported
  std::uint64_t sweeps = 0;        ///< completed with it, begun here
  std::uint64_t bytes_sent = 0;    ///< to it, headers included
  bool other_grid = false;         ///< it has not made the changes of the grid made here
  bool paused = false;             ///< it has left, or was left here, until the end of a pause
  bool shared = false;             ///< the model is averaged in shared memory
  std::uint64_t bytes_shared = 0;  ///< bytes of the model that this worker averaged there
  double round_trip = 0;           ///< seconds, of a bucket, decayed mean; 0 before the first
  double since_sweep = -1;         ///< seconds since the last sweep with it; -1 before the first
};

/// How its link is called in logs and metrics: that of LinkState, or "paused".
[[nodiscard]] inline std::string_view link_name(const NeighbourStatus& neighbour) {
  return neighbour.paused ? "paused" : name(neighbour.link);
}

/// A recent snapshot of a worker's exchange. Value type.
struct SessionStatus {
  WorkerState state = WorkerState::kJoining;
  std::optional<int> joined_from;   ///< rank of the neighbour whose model was adopted, if any
  std::optional<int> initial_from;  ///< the rank whose initial weights it took over, if any
  /// Own estimate: rms distance to neighbours' models over the norm of this one.
  double consensus_distance = 0;
  /// How like the steps of this worker and its neighbours are in length, 0 to 1; see
  /// stencil/runtime/likeness.h.
  double likeness = 1;
  bool flushed = false;       ///< nothing is in flight with any neighbour
  double mean_data_size = 0;  ///< examples that a worker holds, mean over all, as far as is known
  std::string endpoint;       ///< where others can dial this worker
  std::vector<NeighbourStatus> neighbours;
  /// Of each name of SessionOptions::means that is known: see Session::mean(), at the last
  /// boundary.
  std::map<std::string, double, std::less<>> means;
  /// Why training has come apart although all numbers are finite (see LossWatch), for people;
  /// empty: it has not.
  std::string not_learnt;
  /// Counts since the session began, by name: "sweeps", "bytes_sent", "refusals" ..
  std::map<std::string, std::uint64_t, std::less<>> counters;

  /// 0 for an unknown name.
  [[nodiscard]] std::uint64_t counter(std::string_view name) const {
    const auto it = counters.find(name);
    return it == counters.end() ? 0 : it->second;
  }
  /// Whether a model, or a part of one, has been exchanged with a neighbour.
  [[nodiscard]] bool has_exchanged() const {
    return joined_from ||
           counter("sweeps") + counter("answers") + counter("merges") + counter("shares") > 0;
  }
};

}  // namespace fast
