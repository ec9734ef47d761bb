#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

namespace stencil {

/// A set of buckets 0 .. n-1: bits in words of 64, and above them, level by level, a bit for each
/// word that is not empty. So the next bucket is found in O(log n).
class BucketSet {
 public:
  using Word = std::uint64_t;
  static constexpr std::uint32_t kBits = 64;

  explicit BucketSet(std::uint32_t buckets = 0) {
    std::uint32_t count = buckets;
    do {
      count = (count + kBits - 1) / kBits;
      levels_.emplace_back(count);
    } while (count > 1);
  }

  [[nodiscard]] bool contains(std::uint32_t bucket) const {
    return (levels_[0][bucket / kBits] >> bucket % kBits & 1U) != 0;
  }

  void set(std::uint32_t bucket, bool in) {
    for (auto& words : levels_) {
      Word& word = words[bucket / kBits];
      const Word bit = Word{1} << bucket % kBits;
      word = in ? word | bit : word & ~bit;
      in = word != 0;
      bucket /= kBits;
    }
  }

  /// Fills the set with 0 .. `buckets` - 1, which are all.
  void fill(std::uint32_t buckets) {
    for (std::size_t i = 0; i < words(); ++i) {
      const std::uint32_t left = buckets - static_cast<std::uint32_t>(i) * kBits;
      set_word(i, left >= kBits ? ~Word{0} : (Word{1} << left) - 1);
    }
    rebuild();
  }

  /// Access to 64 buckets at once, from 64 * `index` on; see rebuild().
  [[nodiscard]] std::size_t words() const { return levels_[0].size(); }
  [[nodiscard]] Word word(std::size_t index) const { return levels_[0][index]; }
  void set_word(std::size_t index, Word word) { levels_[0][index] = word; }
  /// Updates the levels above. Call it after set_word().
  void rebuild() {
    for (std::size_t level = 1; level < levels_.size(); ++level) {
      const auto& below = levels_[level - 1];
      auto& words = levels_[level];
      for (auto& word : words) word = 0;
      for (std::size_t i = 0; i < below.size(); ++i) {
        words[i / kBits] |= Word{below[i] != 0} << i % kBits;
      }
    }
  }

  /// The first bucket of the set from `bucket` on; nothing where there is none. Adds the number of
  /// words read to `looked`.
  [[nodiscard]] std::optional<std::uint32_t> next(std::uint32_t bucket,
                                                  std::uint64_t& looked) const {
    std::size_t level = 0;
    std::uint64_t at = bucket;
    while (true) {
      if (level == levels_.size() || at / kBits >= levels_[level].size()) return std::nullopt;
      ++looked;
      const Word rest = levels_[level][at / kBits] >> at % kBits;
      if (rest != 0) {
        at += static_cast<std::uint64_t>(std::countr_zero(rest));
        if (level == 0) return static_cast<std::uint32_t>(at);
        --level;
        at *= kBits;
        continue;
      }
      at = at / kBits + 1;
      ++level;
    }
  }

  /// Whether both are sets of as many buckets, to a multiple of 64.
  [[nodiscard]] bool is_like(const BucketSet& other) const {
    return std::ranges::equal(levels_, other.levels_, [](const auto& ours, const auto& theirs) {
      return ours.size() == theirs.size();
    });
  }

  /// See Engine::fields().
  template <typename A, typename T>
  static void fields(A& a, T& v) {
    a(v.levels_);
  }

 private:
  std::vector<std::vector<Word>> levels_;
};

}  // namespace stencil
