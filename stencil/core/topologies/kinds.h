#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stencil/core/graph.h"

namespace stencil {

/// One kind of topology. To add one: a file pair in this folder and a line in kinds.cc. The parser,
/// help texts, messages and the contract suite use this list.
struct TopologyKind {
  std::string_view name;                       ///< the part before the colon: "torus"
  std::string_view form;                       ///< "torus:AxB[xC][:moore]"
  std::string_view meaning;                    ///< for help texts
  std::span<const std::string_view> examples;  ///< small, odd and usual ones, for tests
  internal::Graph (*make)(std::string_view arguments, std::string_view spec);
};

/// All kinds, in the order of help texts.
[[nodiscard]] std::span<const TopologyKind> topology_kinds();

/// The beginnings of specs: "ring:", "torus:", ..
[[nodiscard]] std::vector<std::string> topology_choices();

/// "ring:N, torus:AxB[xC][:moore], .."
[[nodiscard]] std::string topology_forms();

}  // namespace stencil
