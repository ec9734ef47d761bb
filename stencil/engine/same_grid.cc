#include "stencil/engine/same_grid.h"

#include <algorithm>
#include <string>

namespace stencil {

void SameGrid::compare(TimePoint now, Neighbour& neighbour) const {
  Report& report = neighbour.report;
  const std::uint64_t ours = self_.config.grid.hash;
  if (report.grid == 0 || ours == 0 || report.grid == ours) {
    report.grid_differs = kNever;
    report.grid_told = false;
  } else {
    report.grid_differs = std::min(report.grid_differs, now);
  }
}

void SameGrid::heard(TimePoint now, Neighbour& neighbour, const Heartbeat& heartbeat,
                     Actions& out) {
  Report& report = neighbour.report;
  report.grid = heartbeat.grid;
  compare(now, neighbour);
  if (report.grid_differs == kNever || report.grid_told) return;
  if (now - report.grid_differs < kPatience) return;
  report.grid_told = true;
  ++self_.counters.other_grids;
  const std::string changes = std::to_string(self_.config.grid.version);
  out.push_back(action::Warn{
      neighbour.rank,
      "its grid is another than this worker's, which has changed " + changes +
          " times: who is whose neighbour, or the turns in which they meet; make the same changes "
          "at all workers, in the same order",
      "grid"});
}

void SameGrid::changed(TimePoint now) {
  for (Neighbour& neighbour : self_.neighbours) {
    neighbour.report.grid_differs = kNever;
    compare(now, neighbour);
  }
}

}  // namespace stencil
