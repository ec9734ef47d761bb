#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stencil/core/message.h"
#include "stencil/core/states.h"
#include "stencil/core/types.h"
#include "stencil/engine/action.h"
#include "stencil/engine/bound.h"
#include "stencil/engine/config.h"
#include "stencil/engine/counters.h"
#include "stencil/runtime/data_cap.h"
#include "stencil/transport/transport.h"

namespace stencil {

/// What the training thread has done and wants; passed to the pump at each turn.
struct Standing {
  static constexpr std::uint32_t kNoBucket = UINT32_MAX;
  std::uint64_t step = 0;                       ///< boundaries passed
  Pause pause = Pause::kNone;                   ///< what it waits for at the last one
  std::uint32_t made_from = kNoBucket;          ///< buckets from here on hold the next step already
  std::uint64_t round = 0;                      ///< lock-step: rounds published
  std::uint64_t first_batch = 0;                ///< see Heartbeat
  WorkerState wanted = WorkerState::kTraining;  ///< kTraining, kSettling or kFrozen
  bool stop_joining = false;                    ///< waited long enough for a neighbour: begin alone
  bool leave = false;                           ///< send Leave to all neighbours
  bool pauses = false;                          ///< with `leave`: this worker will come back
  TimePoint awaits_until{};  ///< not settled before, while a neighbour is away, nor are others then
};

/// One neighbour, for display and for waits that must name it.
struct NeighbourStatus {
  Rank rank = kNoRank;
  LinkState link = LinkState::kConnecting;
  WorkerState state = WorkerState::kJoining;
  std::uint64_t step = 0, sweeps = 0, bytes_sent = 0;
  std::uint64_t first_batch = 0;   ///< see Heartbeat
  bool other_grid = false;         ///< its grid has been another than ours for long: see SameGrid
  bool paused = false;             ///< it has left, or was left here, until the end of a pause
  bool shared = false;             ///< the model is averaged in shared memory
  std::uint64_t bytes_shared = 0;  ///< bytes of the model that we averaged in shared memory
  Duration round_trip{};
  TimePoint swept{};  ///< meaningful when sweeps > 0
  TimePoint moved{};  ///< see EdgeTimes
};

/// Counts of what the pump itself saw, beside the engine's. Monotonic.
struct PumpCounters {
  std::uint64_t malformed = 0, checksum = 0, payload_size = 0, non_finite = 0;
  std::uint64_t unknown_senders = 0, frames_dropped = 0, own_non_finite = 0;
  std::uint64_t claims_refused = 0;   ///< scalars not taken: see Mixer::bound_scalars()
  std::uint64_t unproven = 0;         ///< messages by links that have not proven their sender's key
  std::uint64_t bytes_shared = 0;     ///< that we averaged in shared memory
  std::uint64_t deferred = 0;         ///< times a bucket could not be folded at a boundary
  std::uint64_t put_off = 0;          ///< messages kept until another process freed a bucket
  std::uint64_t inherited_locks = 0;  ///< taken over from a process that died holding them
};

struct PumpStatus {
  WorkerState state = WorkerState::kJoining;
  bool joined = false;
  Rank joined_from = kNoRank;
  Origin initial;             ///< whose initial weights it holds, see Origin
  Rank initial_by = kNoRank;  ///< the neighbour that they were taken over from
  std::uint64_t adopted = 0;  ///< times that a neighbour's model was adopted
  bool copying = false;       ///< a neighbour's model, while joining
  std::uint64_t copied = 0;   ///< buckets of a neighbour's model received while joining
  bool awaits = false;        ///< a neighbour that is away: see Standing::awaits_until
  bool may_freeze = false;    ///< all workers are settled, as far as is known; see Ending
  bool agreed = false;        ///< was settled at some time, with a measured distance to a neighbour
  bool flushed = false;       ///< nothing of ours is open, and they have applied our replies
  std::uint64_t completed_round = 0;
  bool neighbours_completed = true;  ///< all have completed our last round
  Bound::Limit limit;
  GridFigures grid;
  double settle_threshold = 0;
  double relative_distance = 0;
  std::size_t payloads = 0;  ///< the most buckets that were in flight or kept at once
  std::size_t memory = 0;    ///< bytes of all that the exchange holds now
  std::string refused;       ///< why a neighbour and we cannot exchange; empty where all match
  std::string turned_away;   ///< see Reception::turned_away()
  DataUsed data;             ///< of the allowance
  double data_pace = 1;      ///< see DataCap::pace()
  bool rests = false;        ///< exchanges nothing over the network for now: see Allowance
  EngineCounters engine;
  PumpCounters pump;
  TransportStats transport;
  std::vector<NeighbourStatus> neighbours;
};

}  // namespace stencil
