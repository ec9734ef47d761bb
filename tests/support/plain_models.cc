#include "adapters/flat/models/flat_learner.h"
#include "adapters/programs/built_models.h"

namespace fast {

Models built_models() {
  return Models(flat_models());
}

}  // namespace fast
