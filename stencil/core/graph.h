#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stencil/core/types.h"

namespace stencil::internal {

/// Bounds the memory of any topology: complete:N grows with the square of N.
inline constexpr std::int64_t kMaxEdges = std::int64_t{1} << 24;

/// What a Topology is made from; private to stencil/core.
struct Graph {
  std::vector<int> shape;
  std::vector<std::vector<Rank>> neighbours;  ///< each list sorted, without doubles or itself
  bool has_directions = false;
  bool wraps = false;
  bool irregular = false;  ///< rank 0 is neither a corner nor one like all
  int reach = 0;           ///< set by Topology; see Topology::reach()
};

enum class Neighbourhood { kVonNeumann, kMoore };

/// A box of 1 to 3 sides >= 1, closed (`wraps`) or with open borders.
[[nodiscard]] Graph make_box(std::vector<int> shape, bool wraps, Neighbourhood neighbourhood);

[[nodiscard]] Graph make_complete(int size);

/// The body of an edges file. Memory is bounded by the text's length, whatever ranks it claims.
/// Throws ConfigError naming `spec` and the line.
[[nodiscard]] Graph parse_edges(std::string_view text, const std::string& spec);

/// Foreign text made fit for an error message: printable, in quotes, of bounded length.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace stencil::internal
