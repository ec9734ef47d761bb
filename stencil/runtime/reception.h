#pragma once

#include <optional>
#include <string>

#include "stencil/engine/engine.h"
#include "stencil/runtime/complaints.h"
#include "stencil/runtime/link_book.h"
#include "stencil/runtime/pump_status.h"
#include "stencil/transport/transport.h"

namespace stencil {

/// Receives messages on links that serve no edge yet: from a neighbour that dialled us, or from a
/// stranger. A worker that dials us by mistake must not end our run: it gets a refusal, and we only
/// log it. One thread.
class Reception {
 public:
  /// `keys`: only links whose other end has proven a key count.
  Reception(bool keys, Engine& engine, LinkBook& links, Transport& transport,
            Complaints& complaints, PumpCounters& counters);

  /// Whether the other end of a link may speak for `rank`: always where no keys are in use,
  /// otherwise where it has proven that rank's key. Counts and logs those that have not.
  bool may_speak_for(Rank rank, std::optional<Rank> proven);
  /// The same for the sender of a message; the sender of a Hello gets a refusal.
  bool may_send(LinkId link, const Message& message, std::optional<Rank> proven);
  /// Returns the neighbour that the link serves from now on; null where it serves none.
  Edge* hear(TimePoint now, LinkId link, const Message& message);
  /// What differed with the first who called itself a neighbour and was turned away; or empty.
  [[nodiscard]] const std::string& turned_away() const { return turned_away_; }

 private:
  void differs(const std::string& cause, const std::string& text);
  void answer(LinkId link, Rank to, MessageBody body);
  void refused(LinkId link, const Neighbour& by, const Refusal& refusal, const std::string& claim);
  void turn_away(LinkId link, const Message& message);

  bool keys_;
  Engine& engine_;
  LinkBook& links_;
  Transport& transport_;
  Complaints& complaints_;
  PumpCounters& counters_;
  std::string turned_away_;
};

}  // namespace stencil
