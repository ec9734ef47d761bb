#include "stencil/runtime/made_parts.h"

namespace stencil {

MadeParts::News MadeParts::made_from(std::size_t first) {
  const auto whole = static_cast<std::uint32_t>((first + bucket_floats_ - 1) / bucket_floats_);
  if (whole >= folded_) return {.fold_from = folded_, .fold_to = folded_, .tell = {}};
  News news{.fold_from = whole, .fold_to = folded_, .tell = {}};
  if (folded_ < count_) news.tell = folded_;
  folded_ = whole;
  return news;
}

}  // namespace stencil
