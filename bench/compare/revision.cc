#include "bench/compare/revision.h"

#include "fast/version.h"

namespace fast::compare {

std::string revision() {
  const std::string commit = FAST_COMMIT;
  return commit.empty() ? FAST_VERSION : FAST_VERSION "-" + commit;
}

}  // namespace fast::compare
