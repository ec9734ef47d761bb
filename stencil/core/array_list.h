#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stencil {

/// The arrays of a model in their order, as texts ("fc.weight F32 [10, 64]"), so that two workers
/// whose models differ find the first array that does. What a worker tells of each array is a mark
/// of 16 bits (of xxHash64), which says no name to whoever does not hold the same array. Immutable
/// value.
class ArrayList {
 public:
  static constexpr std::size_t kMostMarks = 1024;  ///< further arrays are not compared

  ArrayList() = default;
  explicit ArrayList(std::vector<std::string> arrays) : arrays_(std::move(arrays)) {}

  /// Two bytes of each array.
  [[nodiscard]] std::string marks() const;
  /// "the first array that differs is number 62 of 63 here, fc.weight F32 [10, 64]", beside another
  /// worker's marks; "" where none is found. A difference is missed once in 65,536.
  [[nodiscard]] std::string first_difference(std::string_view theirs) const;

 private:
  std::vector<std::string> arrays_;
};

}  // namespace stencil
