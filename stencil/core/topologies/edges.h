#pragma once

#include <string>
#include <string_view>

#include "stencil/core/graph.h"

namespace stencil::internal {

/// Parses the body of an edges file: two ranks a line, undirected, each edge once or in both
/// directions; # begins a comment. Memory is bounded by the text's length, whatever ranks it names.
/// The input is untrusted (see tests/fuzz). Throws ConfigError naming `spec` and the line.
[[nodiscard]] Graph parse_edges(std::string_view text, const std::string& spec);

/// "FILE": the graph that an edges file describes.
[[nodiscard]] Graph make_edges(std::string_view arguments, std::string_view spec);

}  // namespace stencil::internal
