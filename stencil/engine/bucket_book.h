#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stencil/engine/bucket_set.h"

namespace stencil {

/// Which buckets have an open request, and how often each may answer meanwhile: the stability rule.
///
/// A bucket has at most one open request of its own. With none open, a worker answers with 1/2;
/// while one is open, with 1/3, at most three times. Further offers are declined as busy. Under
/// this rule the sum of squared distances to the mean (deltas in flight counted) plus weighted
/// squares of the open requests never increases, whatever the delays.
class BucketBook {
 public:
  explicit BucketBook(std::uint32_t buckets) : open_(buckets), answers_(buckets) {}

  [[nodiscard]] bool is_open(std::uint32_t bucket) const { return open_.contains(bucket); }
  void open(std::uint32_t bucket) { set(bucket, true); }
  void close(std::uint32_t bucket) { set(bucket, false); }
  [[nodiscard]] const BucketSet& all_open() const { return open_; }

  /// Returns the divisor to answer with (2 or 3), or nothing for busy. Counts the answer.
  std::optional<std::uint8_t> admit(std::uint32_t bucket) {
    if (!is_open(bucket)) return 2;
    if (answers_[bucket] == 3) return std::nullopt;
    ++answers_[bucket];
    return 3;
  }

  [[nodiscard]] bool is_of(std::uint32_t buckets) const {
    return open_.is_like(BucketSet(buckets)) && answers_.size() == buckets;
  }

  /// See Engine::fields().
  template <typename A, typename T>
  static void fields(A& a, T& v) {
    a(v.open_, v.answers_);
  }

 private:
  void set(std::uint32_t bucket, bool open) {
    open_.set(bucket, open);
    answers_[bucket] = 0;
  }

  BucketSet open_;
  std::vector<std::uint8_t> answers_;  ///< given while its request is open
};

}  // namespace stencil
