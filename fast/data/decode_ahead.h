#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <span>
#include <vector>

namespace fast {

/// Decodes examples when they are asked for, or in threads of its own before, where it is told
/// which will be. What is read is the same either way. One thread calls it; it holds the examples
/// that it was told of last, and no others.
class DecodeAhead {
 public:
  /// Writes one example of `each` bytes. Called by several threads at once.
  using Decode = std::function<void(std::size_t example, std::span<std::uint8_t> out)>;

  DecodeAhead(std::size_t each, Decode decode) : each_(each), decode_(std::move(decode)) {}
  DecodeAhead(const DecodeAhead&) = delete;
  DecodeAhead& operator=(const DecodeAhead&) = delete;

  /// Consecutive examples from `first` on, as many as `out` has room for. Throws what `decode`
  /// throws.
  void read(std::size_t first, std::span<std::uint8_t> out);
  /// These will be read next. Returns at once; what it was told before is dropped.
  void expect(std::span<const std::uint32_t> next);

 private:
  static constexpr std::size_t kThreads = 2;
  /// What one thread decodes.
  struct Share {
    std::vector<std::uint32_t> examples;
    std::vector<std::uint8_t> decoded;
    std::future<void> work;  ///< last: it ends before what it writes to
  };
  void read_one(std::size_t example, std::span<std::uint8_t> out);

  std::size_t each_;
  Decode decode_;
  std::vector<Share> shares_;
};

}  // namespace fast
