#pragma once

#include <cstddef>
#include <cstdint>

/// A program that links this counts the calls of operator new.
namespace test {

struct Allocations {
  std::uint64_t count = 0;
  std::size_t largest = 0;  ///< bytes
};

/// Of the calling thread; may be reset.
Allocations& allocations();
/// The number of calls since the program began.
[[nodiscard]] std::uint64_t allocations_of_all_threads();

}  // namespace test
