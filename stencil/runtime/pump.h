#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stencil/core/types.h"
#include "stencil/engine/engine.h"
#include "stencil/mix/mixer.h"
#include "stencil/runtime/complaints.h"
#include "stencil/runtime/executor.h"
#include "stencil/runtime/link_book.h"
#include "stencil/runtime/memory_sharing.h"
#include "stencil/runtime/outbox.h"
#include "stencil/runtime/payload_forms.h"
#include "stencil/runtime/pump_status.h"
#include "stencil/runtime/reception.h"
#include "stencil/runtime/settlement.h"
#include "stencil/shared/meeting.h"
#include "stencil/transport/transport.h"

namespace stencil {

struct PumpOptions {
  EngineConfig engine;
  double settle_threshold = 1e-3;  ///< see settle_threshold()
  bool keys = false;               ///< only links whose other end has proven its rank count
};

/// Joins the protocol (Engine), the arithmetic (Mixer) and the network (Transport): the one way in
/// which a worker's background work is done, be it called by a thread or by the simulator. Has
/// itself neither thread nor clock. Mixer, transport and meeting must outlive it.
///
/// An input goes from the transport through Reception or straight to the Engine; what that wants
/// done the Executor does, at once; messages leave through the Outbox.
class Pump {
 public:
  /// Without a `meeting` all goes over the transport; with one, the mixer's segment is shared.
  Pump(PumpOptions options, Mixer& mixer, Transport& transport, Resolver resolver,
       const LogSink& log, TimePoint now, Meeting* meeting = nullptr);

  /// Does all that can be done at `now`: takes what arrived, acts, sends. Returns when to be called
  /// again at the latest; earlier when a frame arrives or the standing changes.
  TimePoint turn(TimePoint now, const Standing& standing);

  /// A neighbour more, from now on. Its end has to do the same. Not in mode sync.
  void add(TimePoint now, const Place& place);
  /// A neighbour less: no exchange with it begins any more, and once all that is under way is
  /// settled, or it is not there to settle it, it is told good-bye and forgotten. Not in mode sync.
  void remove(TimePoint now, Rank rank);

  /// As it is now. Overwritten in place by the next call, so that asking often allocates nothing.
  [[nodiscard]] const PumpStatus& status();
  [[nodiscard]] const Engine& engine() const { return engine_; }

 private:
  void apply_standing(TimePoint now, const Standing& standing);
  void apply_wanted_state(TimePoint now, WorkerState wanted);
  void leave();
  /// A bounded number of what has come. True where there may be more.
  bool receive_some(TimePoint now);
  void receive(TimePoint now, Received&& received);
  void link_up(TimePoint now, LinkId link, std::optional<Rank> proven);
  void receive_frame(TimePoint now, const Received& received);
  void receive_message(TimePoint now, Neighbour& from, const Message& message);
  void link_down(TimePoint now, LinkId link);
  void cut(TimePoint now, Neighbour& neighbour);
  void without_link(TimePoint now, Neighbour& neighbour);
  void update_settling(TimePoint now);
  /// Returns when to be called again.
  TimePoint remove_retired(TimePoint now);
  void act() { executor_.run(actions_); }

  Mixer& mixer_;
  Transport& transport_;
  PumpCounters counters_;
  Complaints complaints_;
  Neighbours neighbours_;
  Engine engine_;
  LinkBook links_;
  Settlement settlement_;
  PayloadForms forms_;
  Outbox outbox_;
  Executor executor_;
  Reception reception_;
  MemorySharing sharing_;
  Actions actions_;
  PumpStatus status_;  ///< as last asked for
  std::uint64_t published_ = 0;
  bool left_ = false;
};

}  // namespace stencil
