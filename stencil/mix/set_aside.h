#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stencil/core/layout.h"

namespace stencil {

/// The part of p, summed up since the last fold, that followers are not to take in: what came from
/// neighbours whose steps are of another length (see fast/momentum.h). As large as the model, but
/// it takes memory for buckets alone that ever had such a part.
///
/// Of one bucket, under that bucket's lock: any thread. around(): background thread.
class SetAside {
 public:
  explicit SetAside(const Layout& layout);
  ~SetAside();
  SetAside(const SetAside&) = delete;
  SetAside& operator=(const SetAside&) = delete;

  /// Calls change(), which changes `p` of this bucket, and sets aside `share` of the change, from 0
  /// to 1. Returns what change() does.
  template <typename Change>
  auto around(std::uint32_t bucket, std::span<const float> p, double share, Change change) {
    if (share <= 0) return change();
    std::ranges::copy(p, before_.begin());
    const auto result = change();
    add(bucket, p, static_cast<float>(share));
    return result;
  }

  /// The floats of the whole model, of which those of this bucket may be read; null where nothing
  /// of it is set aside.
  [[nodiscard]] const float* of(std::uint32_t bucket) const {
    return any_[bucket] != 0 ? floats_.data() : nullptr;
  }
  /// Of memory that it has taken. Background thread.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Nothing of this bucket is set aside any more.
  void clear(std::uint32_t bucket);

 private:
  void add(std::uint32_t bucket, std::span<const float> p, float share);

  const Layout& layout_;
  std::span<float> floats_;
  std::vector<std::uint8_t> any_;   ///< by bucket
  std::vector<float> before_;       ///< p of one bucket
  std::vector<std::uint8_t> took_;  ///< by bucket: memory, at some time; background thread
  std::size_t bytes_ = 0;           ///< likewise
};

}  // namespace stencil
