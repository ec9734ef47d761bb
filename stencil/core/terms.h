#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace stencil {

/// What all workers of a run must have in common, by name: "budget" is "250000". In the order in
/// which differences are looked for.
struct Term {
  std::string name, value;
  friend bool operator==(const Term&, const Term&) = default;
};
using Terms = std::vector<Term>;

/// "" where there is none of that name.
[[nodiscard]] inline std::string value_of(const Terms& terms, std::string_view name) {
  const auto it = std::ranges::find(terms, name, &Term::name);
  return it == terms.end() ? std::string() : it->value;
}

}  // namespace stencil
