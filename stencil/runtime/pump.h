#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stencil/core/types.h"
#include "stencil/engine/engine.h"
#include "stencil/mix/mixer.h"
#include "stencil/runtime/allowance.h"
#include "stencil/runtime/carried.h"
#include "stencil/runtime/complaints.h"
#include "stencil/runtime/data_cap.h"
#include "stencil/runtime/edge.h"
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
#include "stencil/wire/wire.h"

namespace stencil {

struct PumpOptions {
  EngineConfig engine;
  double settle_threshold = 1e-3;   ///< see Grid::settle_threshold()
  bool keys = false;                ///< only links whose other end has proven its rank count
  std::size_t payloads = SIZE_MAX;  ///< own ones that may exist at once, see PayloadForms
  double max_rate = 0;              ///< bytes a second that it sends at most; 0: no bound
  DataCap data_cap{};               ///< of what it sends and receives
  Carried* carried = nullptr;       ///< what newcomers take over beside the model; must outlive it
  Witness* witness = nullptr;       ///< of the engine; must outlive it
};

/// Joins the protocol (Engine), the arithmetic (Mixer) and the network (Transport). All background
/// work of a worker is done here, whether a thread or the simulator calls it. It has neither a
/// thread nor a clock of its own. Mixer, transport and meeting must outlive it.
///
/// An input goes from the transport through Reception or directly to the Engine. The Executor
/// carries out the engine's actions at once. Messages leave through the Outbox.
class Pump {
 public:
  /// Without a `meeting`, all exchanges use the transport; with one, the mixer's segment is shared.
  Pump(PumpOptions options, Mixer& mixer, Transport& transport, Resolver resolver,
       const LogSink& log, TimePoint now, Meeting* meeting = nullptr);

  /// Does all that can be done at `now`: receives, acts, sends. Returns when to call it again at
  /// the latest. Call it earlier when a frame arrives or the standing changes.
  TimePoint turn(TimePoint now, const Standing& standing);

  // The grid changes. Not in mode sync.
  /// Adds a neighbour; one that has the rank of another that is still being removed, once that is
  /// over. The other end must do the same.
  void add(TimePoint now, const Place& place);
  /// Removes a neighbour. No new exchange with it begins. Once everything in flight is complete, or
  /// the neighbour is not there to complete it, it gets a Leave and is forgotten.
  void remove(TimePoint now, Rank rank);
  /// What follows from the grid as it is now; of changes elsewhere, too.
  void follow(TimePoint now, const GridFigures& grid);
  /// Grid::settle_threshold() of that grid.
  void set_settle_threshold(double threshold) { settlement_.set_threshold(threshold); }

  /// The present status. The next call overwrites it in place, so that frequent calls allocate
  /// nothing.
  [[nodiscard]] const PumpStatus& status();
  [[nodiscard]] const Engine& engine() const { return engine_; }
  [[nodiscard]] const Edges& edges() const { return edges_; }

 private:
  void apply_standing(TimePoint now, const Standing& standing);
  void apply_wanted_state(TimePoint now, WorkerState wanted);
  void leave(bool pauses);
  [[nodiscard]] TimePoint after_leaving(TimePoint now);
  /// Handles a bounded number of received frames. Returns true where there may be more.
  bool receive_some(TimePoint now);
  void receive(TimePoint now, Received&& received);
  void link_up(TimePoint now, LinkId link, std::optional<Rank> proven);
  void receive_frame(TimePoint now, const Received& received);
  /// Counts and logs it; `from` is null where the link serves no edge.
  void note_undecodable(const Edge* from, const Error& error);
  void link_down(TimePoint now, LinkId link);
  void cut(TimePoint now, Edge& edge);
  void without_link(TimePoint now, Edge& edge);
  void update_settling(TimePoint now, TimePoint awaits_until);
  /// Returns when to call it again.
  TimePoint remove_retired(TimePoint now);
  void act() { executor_.run(actions_); }

  Mixer& mixer_;
  Transport& transport_;
  const Integrity served_;  ///< of links that serve an edge
  Carried nothing_;         ///< carried, where nothing is
  PumpCounters counters_;
  Complaints complaints_;
  Neighbours neighbours_;  ///< the engine's: others read it
  Engine engine_;
  Edges edges_;
  LinkBook links_;
  Settlement settlement_;
  PayloadForms forms_;
  Outbox outbox_;
  Executor executor_;
  Reception reception_;
  MemorySharing sharing_;
  Allowance allowance_;
  Actions actions_;
  std::vector<Place> next_;  ///< to be added when those of their ranks are removed
  PumpStatus status_;        ///< as of the last call of status()
  std::uint64_t published_ = 0;
  bool left_ = false;
};

}  // namespace stencil
