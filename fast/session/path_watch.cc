#include "fast/session/path_watch.h"

namespace fast {

std::optional<stencil::Rank> PathWatch::look(
    stencil::TimePoint now, const std::vector<stencil::NeighbourStatus>& neighbours) {
  std::optional<stencil::Rank> found;
  for (const stencil::NeighbourStatus& neighbour : neighbours) {
    Path& path = paths_[neighbour.rank];
    const bool up = neighbour.link == stencil::LinkState::kUp;
    const bool comes_up = up && !path.up;
    path.up = up;
    if (neighbour.shared || neighbour.moved != path.moved) {
      path.moved = neighbour.moved;
      path.ups = 0;
    }
    if (comes_up && ++path.ups == 1) {
      path.since = now;
      path.sent = neighbour.bytes_sent;
    }
    if (found || path.told || path.ups < kUps || now - path.since < kLong ||
        neighbour.bytes_sent < path.sent + kBytes) {
      continue;
    }
    path.told = true;
    found = neighbour.rank;
  }
  return found;
}

std::string PathWatch::advice(stencil::Rank rank, stencil::OptionNaming naming) {
  return "neighbour " + std::to_string(rank) +
         " is greeted again and again, and nothing longer than a greeting comes through: the path "
         "to it may drop large packets, as tunnels do (ping -M do -s 1400 HOST tells); let both "
         "ends send smaller ones, by " +
         naming("packet_bytes") +
         " 1200 or by ip link set dev INTERFACE mtu 1200, or repair the path";
}

}  // namespace fast
