#include "stencil/runtime/likeness.h"

#include <algorithm>

namespace stencil {

void Likeness::hear(const Steps& own, const Neighbours& neighbours) {
  own_ = own;
  neighbours_.clear();
  for (const Neighbour& one : neighbours) {
    if (one.in_pace()) neighbours_.push_back(one.report.steps);
  }
}

double Likeness::at(TimePoint now) const {
  double least = 1;
  for (const Steps& theirs : neighbours_) {
    if (theirs.present(now) >= own_.present(now)) continue;
    least = std::min(least, likeness(own_, theirs, now));
  }
  return least;
}

}  // namespace stencil
