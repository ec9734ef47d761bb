#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stencil::internal {

/// Throws ConfigError with `cause`; its remedy lists the forms of all kinds.
[[noreturn]] void refuse(std::string_view spec, const std::string& cause);

/// A number of workers: decimal, 1 or more, without sign or leading zero, so that one graph has one
/// spelling. Throws ConfigError.
[[nodiscard]] int parse_side(std::string_view text, std::string_view spec);

/// "AxB" or "AxBxC"; their product is at most Topology::kMaxSize. Throws ConfigError.
[[nodiscard]] std::vector<int> parse_sides(std::string_view text, std::string_view spec);

}  // namespace stencil::internal
