#pragma once

#include <memory>
#include <vector>

#include "stencil/core/keys.h"

namespace stencil::test {

/// A pair of keys determined by a number; different numbers give different pairs.
struct KeyPair {
  explicit KeyPair(std::uint8_t number);
  PublicKey open;
  std::array<std::uint8_t, kKeyBytes> secret;
};

/// The key ring of a worker with pair `own`; rank K's keys are those of the pairs `by_rank[K]`.
[[nodiscard]] std::shared_ptr<const KeyRing> ring(
    std::uint8_t own, const std::vector<std::vector<std::uint8_t>>& by_rank);

/// Keys that a test replaces while they are in use. One thread.
class Keys {
 public:
  explicit Keys(std::shared_ptr<const KeyRing> first)
      : held_(std::make_shared<std::shared_ptr<const KeyRing>>(std::move(first))) {}
  void replace(std::shared_ptr<const KeyRing> next) { *held_ = std::move(next); }
  [[nodiscard]] KeySource source() const {
    return [held = held_] { return *held; };
  }

 private:
  std::shared_ptr<std::shared_ptr<const KeyRing>> held_;
};

}  // namespace stencil::test
