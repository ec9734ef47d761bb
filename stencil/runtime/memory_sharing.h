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

/// Exchanging with neighbours on the same host, whose memory is mapped here and ours there. One
/// thread.
class MemorySharing {
 public:
  /// Without a `meeting` nothing is shared.
  MemorySharing(Engine& engine, Mixer& mixer, Meeting* meeting, Settlement& settlement,
                Complaints& complaints, PumpCounters& counters);

  /// Maps what has come within reach, and tells the engine.
  void meet(TimePoint now, Executor& executor, Actions& actions);
  /// Names a neighbour that has held a bucket of ours for long: it lacks what was agreed on, and
  /// nobody is shown our steps in it.
  void watch(TimePoint now);
  /// Averages a few buckets; then the network has its turn again.
  void share(TimePoint now, Executor& executor, Actions& actions);
  /// What neighbours did to our model, as far as settling must know of it.
  void read_notes();
  /// Neighbours have done nothing that read_notes() has not read.
  [[nodiscard]] bool notes_are_read() const;
  void forget(const Neighbour& neighbour);

 private:
  ShareResult average(Neighbour& with, std::uint32_t bucket, bool finishing);

  Engine& engine_;
  Mixer& mixer_;
  Meeting* meeting_;
  Settlement& settlement_;
  Complaints& complaints_;
  PumpCounters& counters_;
  Actions shares_;
  std::uint64_t notes_read_ = 0;
  Rank holder_ = kNoRank;   ///< of a bucket of ours that could not be folded
  TimePoint held_since_{};  ///< by it
};

}  // namespace stencil
