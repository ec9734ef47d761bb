#include "stencil/runtime/made_parts.h"

#include <utility>

namespace stencil {

std::optional<MadeParts::Buckets> MadeParts::made_from(std::size_t first) {
  const auto whole = static_cast<std::uint32_t>((first + bucket_floats_ - 1) / bucket_floats_);
  if (whole >= told_) return {};
  return Buckets{.from = whole, .to = std::exchange(told_, whole)};
}

}  // namespace stencil
