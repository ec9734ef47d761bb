#include "stencil/sim/direct_meeting.h"

namespace stencil::sim {

void DirectMeeting::meet(Rank rank, const std::string& /*token*/) {
  const Segment* theirs = find_(rank);
  const auto it = mapped_.find(rank);
  if (theirs == nullptr || (it != mapped_.end() && it->second.id() == theirs->id())) return;
  mapped_.erase(rank);
  Result<Segment> mapped = Segment::map(theirs->descriptor(), layout_, rank, theirs->id());
  mapped_.emplace(rank, std::move(mapped.value()));
}

Segment* DirectMeeting::find(Rank rank) {
  const auto it = mapped_.find(rank);
  return it == mapped_.end() ? nullptr : &it->second;
}

}  // namespace stencil::sim
