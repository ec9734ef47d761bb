#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fast/adapter.h"
#include "stencil/core/array_list.h"
#include "stencil/core/layout.h"

namespace fast {

// A model's arrays of Role::kCarried, which newcomers take over with the initial weights.

/// Their bytes, end to end, as they are now.
[[nodiscard]] std::vector<std::byte> carried_bytes(ModelAdapter& adapter);
/// Sets them to such bytes, which belong to the same arrays.
void set_carried(ModelAdapter& adapter, std::span<const std::byte> bytes);
/// The arrays of `layout` and those that are carried, for a neighbour whose model differs.
[[nodiscard]] stencil::ArrayList array_list(const stencil::Layout& layout, ModelAdapter& adapter);
/// What two workers must have in common: number, bytes, and a hash of names, types and shapes.
/// "none" where there is none.
[[nodiscard]] std::string describe_carried(ModelAdapter& adapter);

/// Of what all begin with: the values that are exchanged, and what is carried. See StartHash.
[[nodiscard]] std::uint64_t hash_of_start(std::span<const float> values,
                                          std::span<const std::byte> carried);

}  // namespace fast
