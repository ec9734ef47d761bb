#pragma once

#include <string>

namespace fast::compare {

/// FAST's version, and the commit that this program was configured from where git tells:
/// "0.1.0-3a4b5c6". Results say by which they were made.
[[nodiscard]] std::string revision();

}  // namespace fast::compare
