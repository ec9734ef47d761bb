#include "stencil/runtime/made_parts.h"

#include <algorithm>

namespace stencil {
namespace {

/// Boundaries in time before sweeps begin later again.
constexpr int kProven = 4;

}  // namespace

MadeParts::News MadeParts::made_from(std::size_t first) {
  const auto whole = static_cast<std::uint32_t>((first + bucket_floats_ - 1) / bucket_floats_);
  if (whole >= folded_) return {.fold_from = folded_, .fold_to = folded_, .tell = {}};
  News news{.fold_from = whole, .fold_to = folded_, .tell = {}};
  folded_ = whole;
  const std::uint32_t tell = folded_ + (late_ * count_ + kLatest - 1) / kLatest;
  if (tell < told_) news.tell = told_ = tell;
  return news;
}

void MadeParts::boundary(bool in_time) {
  folded_ = told_ = count_;
  in_time_ = in_time ? in_time_ + 1 : 0;
  if (!in_time) {
    late_ = std::max(late_ - 1, 1U);
  } else if (in_time_ == kProven) {
    late_ = std::min(late_ + 1, kLatest);
    in_time_ = 0;
  }
}

}  // namespace stencil
