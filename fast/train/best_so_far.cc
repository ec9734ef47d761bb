#include "fast/train/best_so_far.h"

#include <cmath>

namespace fast {

bool BestSoFar::judge(double now) {
  const bool better =
      std::isfinite(now) && (!value || (metric == Metric::kAccuracy ? now > *value : now < *value));
  if (better) {
    value = now;
    since = 0;
  } else {
    ++since;
  }
  return better;
}

}  // namespace fast
