#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

struct XXH64_state_s;

namespace stencil {

/// The hash of a model as it begins (Hello::initial_hash): of the values' bytes, end to end, and of
/// what is carried beside them. It can be taken piece by piece.
class StartHash {
 public:
  StartHash();
  StartHash(StartHash&&) noexcept = default;
  StartHash& operator=(StartHash&&) noexcept = default;
  ~StartHash() = default;

  /// Begins anew.
  void reset();
  /// The next values. All of them precede what is carried.
  void add_values(std::span<const std::byte> piece);
  /// The next bytes of what is carried.
  void add_carried(std::span<const std::byte> piece);
  /// Of all that was added.
  [[nodiscard]] std::uint64_t value() const;

 private:
  struct Free {
    void operator()(XXH64_state_s* state) const;
  };
  std::unique_ptr<XXH64_state_s, Free> state_;
  bool carries_ = false;
};

}  // namespace stencil
