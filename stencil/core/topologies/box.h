#pragma once

#include <string_view>

#include "stencil/core/graph.h"

namespace stencil::internal {

/// "N": each worker has two neighbours, the first and the last are neighbours too.
[[nodiscard]] Graph make_ring(std::string_view arguments, std::string_view spec);

/// "AxB[xC][:moore]": a box of two or three sides, whose borders are joined. `:moore` adds the
/// diagonal neighbours.
[[nodiscard]] Graph make_torus(std::string_view arguments, std::string_view spec);

/// The same with open borders.
[[nodiscard]] Graph make_grid(std::string_view arguments, std::string_view spec);

}  // namespace stencil::internal
