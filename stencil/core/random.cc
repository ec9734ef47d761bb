#include "stencil/core/random.h"

#include <cmath>

namespace stencil {

double Random::normal() {
  // The pair's second value is dropped: keeping it would make the state more than one word.
  while (true) {
    const double u = 2.0 * uniform() - 1.0;
    const double v = 2.0 * uniform() - 1.0;
    const double s = u * u + v * v;
    if (s > 0.0 && s < 1.0) return u * std::sqrt(-2.0 * std::log(s) / s);
  }
}

}  // namespace stencil
