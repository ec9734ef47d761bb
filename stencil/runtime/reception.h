#pragma once

#include <optional>

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
  /// `keys`: only links whose other end has proven a key count.
  Reception(bool keys, Engine& engine, LinkBook& links, Transport& transport,
            Complaints& complaints, PumpCounters& counters);

  /// Whether the other end of a link may speak for `rank`: always where no keys are in use, else
  /// where it has proven that rank's key. Counts and names those that have not.
  bool may_speak_for(Rank rank, std::optional<Rank> proven);
  /// The same for the sender of a message; one that says Hello is told.
  bool may_send(LinkId link, const Message& message, std::optional<Rank> proven);
  /// The neighbour that the link serves from now on; null where it serves none.
  Neighbour* hear(TimePoint now, LinkId link, const Message& message);

 private:
  void answer(LinkId link, const Neighbour* to, MessageBody body);
  void refused(LinkId link, const Neighbour& by, const Refusal& refusal, const std::string& claim);
  void turn_away(LinkId link, const Message& message);

  bool keys_;
  Engine& engine_;
  LinkBook& links_;
  Transport& transport_;
  Complaints& complaints_;
  PumpCounters& counters_;
};

}  // namespace stencil
