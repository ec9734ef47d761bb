#pragma once

#include <string>
#include <string_view>

#include "stencil/core/graph.h"

namespace stencil::internal {

/// The body of an edges file: two ranks a line, undirected, in either or both directions; # begins
/// a comment. Memory is bounded by the text's length, whatever ranks it claims. A parser of foreign
/// bytes (see tests/fuzz). Throws ConfigError naming `spec` and the line.
[[nodiscard]] Graph parse_edges(std::string_view text, const std::string& spec);

/// "FILE": the graph that an edges file describes.
[[nodiscard]] Graph make_edges(std::string_view arguments, std::string_view spec);

}  // namespace stencil::internal
