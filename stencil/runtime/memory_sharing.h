#pragma once

#include <cstdint>

#include "stencil/engine/engine.h"
#include "stencil/mix/mixer.h"
#include "stencil/runtime/complaints.h"
#include "stencil/runtime/executor.h"
#include "stencil/runtime/pump_status.h"
#include "stencil/runtime/settlement.h"
#include "stencil/shared/meeting.h"

namespace stencil {

/// Exchanges with neighbours on the same host through shared memory: theirs is mapped here and ours
/// there. One thread.
class MemorySharing {
 public:
  /// Without a `meeting` nothing is shared.
  MemorySharing(Engine& engine, Edges& edges, Mixer& mixer, Meeting* meeting,
                Settlement& settlement, Complaints& complaints, PumpCounters& counters);

  /// Maps the segments that can be mapped by now, and tells the engine.
  void meet(TimePoint now, Executor& executor, Actions& actions);
  /// Logs a neighbour that has held a bucket of ours for long: that bucket is neither folded nor
  /// exchanged.
  void watch(TimePoint now);
  /// Averages a few buckets at a time, so that the caller can serve the network in between.
  void share(TimePoint now, Executor& executor, Actions& actions);
  /// Reads the notes that neighbours left about what they did to our model, for settling.
  void read_notes();
  /// Whether read_notes() has read all of them.
  [[nodiscard]] bool notes_are_read() const;
  void forget(Rank neighbour);

 private:
  ShareResult average(Edge& with, std::uint32_t bucket, bool finishing);

  Engine& engine_;
  Edges& edges_;
  Mixer& mixer_;
  Meeting* meeting_;
  Settlement& settlement_;
  Complaints& complaints_;
  PumpCounters& counters_;
  Actions shares_;
  std::uint64_t notes_read_ = 0;
  Rank holder_ = kNoRank;   ///< the neighbour that holds a bucket of ours that could not be folded
  TimePoint held_since_{};  ///< by holder_
};

}  // namespace stencil
