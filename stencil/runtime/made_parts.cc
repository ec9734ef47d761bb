#include "stencil/runtime/made_parts.h"

#include <algorithm>
#include <utility>

namespace stencil {
namespace {

/// Boundaries in time before sweeps begin later again.
constexpr int kProven = 4;

}  // namespace

std::optional<MadeParts::Buckets> MadeParts::made_from(std::size_t first) {
  const auto whole = static_cast<std::uint32_t>((first + bucket_floats_ - 1) / bucket_floats_);
  const std::uint32_t tell = whole + (late_ * count_ + kLatest - 1) / kLatest;
  if (tell >= told_) return {};
  return Buckets{.from = tell, .to = std::exchange(told_, tell)};
}

void MadeParts::boundary(bool in_time) {
  told_ = count_;
  in_time_ = in_time ? in_time_ + 1 : 0;
  if (!in_time) {
    late_ = std::max(late_ - 1, 1U);
  } else if (in_time_ == kProven) {
    late_ = std::min(late_ + 1, kLatest);
    in_time_ = 0;
  }
}

}  // namespace stencil
