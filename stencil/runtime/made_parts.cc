#include "stencil/runtime/made_parts.h"

namespace stencil {

std::optional<MadeParts::Buckets> MadeParts::would_be_made(std::size_t first) const {
  const auto whole = static_cast<std::uint32_t>((first + bucket_floats_ - 1) / bucket_floats_);
  if (whole >= told_) return {};
  return Buckets{.from = whole, .to = told_};
}

std::optional<MadeParts::Buckets> MadeParts::made_from(std::size_t first) {
  const std::optional<Buckets> made = would_be_made(first);
  if (made) told_ = made->from;
  return made;
}

}  // namespace stencil
