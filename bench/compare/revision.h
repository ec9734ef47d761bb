#pragma once

#include <string>

namespace fast::compare {

/// FAST's version and, where git knows it, the commit that this program was configured from:
/// "0.1.0-3a4b5c6". Stored in results.
[[nodiscard]] std::string revision();

}  // namespace fast::compare
