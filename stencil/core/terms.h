#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stencil {

/// What all workers of a run must have in common, by name: "budget" is "250000". Terms are kept in
/// the order in which differences are looked for.
struct Term {
  std::string name, value;
  friend bool operator==(const Term&, const Term&) = default;
};
using Terms = std::vector<Term>;

/// "" where there is none of that name.
[[nodiscard]] std::string value_of(const Terms& terms, std::string_view name);

/// A term as a Hello carries it: hashed (xxHash64), so that a stranger learns no value from it.
struct TermHash {
  std::string name;
  std::uint64_t hash = 0;
  friend bool operator==(const TermHash&, const TermHash&) = default;
};
[[nodiscard]] std::vector<TermHash> hashes_of(const Terms& terms);

/// The name of the first term that differs or that only one side has; "" where all agree.
[[nodiscard]] std::string differing(const std::vector<TermHash>& ours,
                                    const std::vector<TermHash>& theirs);

}  // namespace stencil
