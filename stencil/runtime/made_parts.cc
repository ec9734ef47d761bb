#include "stencil/runtime/made_parts.h"

#include <algorithm>
#include <utility>

namespace stencil {
namespace {

/// Boundaries in time before sweeps begin later again.
constexpr int kProven = 4;
/// Boundaries in a row whose sweeps came slowly before any begins ahead of its boundary.
constexpr int kSlow = 8;

}  // namespace

std::optional<MadeParts::Buckets> MadeParts::made_from(std::size_t first) {
  const auto whole = static_cast<std::uint32_t>((first + bucket_floats_ - 1) / bucket_floats_);
  const std::uint32_t tell = whole + (late_ * count_ + kLatest - 1) / kLatest;
  if (tell >= told_) return {};
  return Buckets{.from = tell, .to = std::exchange(told_, tell)};
}

void MadeParts::boundary(Came came) {
  told_ = count_;
  slow_ = came.quickly ? 0 : slow_ + 1;
  if (late_ == kLatest && slow_ < kSlow) return;
  in_time_ = came.in_time ? in_time_ + 1 : 0;
  if (!came.in_time) {
    late_ = std::max(late_ - 1, 1U);
  } else if (in_time_ == kProven) {
    late_ = std::min(late_ + 1, kLatest);
    in_time_ = 0;
  }
}

}  // namespace stencil
