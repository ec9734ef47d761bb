#pragma once

#include <string_view>

#include "stencil/core/graph.h"

namespace stencil::internal {

/// "N": everybody neighbours everybody.
[[nodiscard]] Graph make_complete(std::string_view arguments, std::string_view spec);

}  // namespace stencil::internal
