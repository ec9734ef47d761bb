#pragma once

#include "stencil/engine/engine.h"
#include "stencil/runtime/complaints.h"
#include "stencil/runtime/link_book.h"
#include "stencil/runtime/pump_status.h"
#include "stencil/transport/transport.h"

namespace stencil {

/// Hears whoever comes by a link that serves no edge: a neighbour that dialled us, or somebody
/// lost. Whoever dialled us by mistake must not end our run: it is told, and we only say so. One
/// thread.
class Reception {
 public:
  Reception(Engine& engine, LinkBook& links, Transport& transport, Complaints& complaints,
            PumpCounters& counters);

  /// The neighbour that the link serves from now on; null where it serves none.
  Neighbour* hear(TimePoint now, LinkId link, const Message& message);

 private:
  void answer(LinkId link, const Neighbour* to, MessageBody body);
  void refused(LinkId link, const Neighbour& by, const Refusal& refusal, const std::string& claim);
  void turn_away(LinkId link, const Message& message);

  Engine& engine_;
  LinkBook& links_;
  Transport& transport_;
  Complaints& complaints_;
  PumpCounters& counters_;
};

}  // namespace stencil
