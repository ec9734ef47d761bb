#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <utility>

#include "stencil/core/keys.h"

namespace stencil {

/// Where a worker can be dialled, and the key that the answering end must prove to hold. Without a
/// key nothing is proven. A text alone is an address without a key. Value type.
struct PeerAddress {
  PeerAddress() = default;
  template <std::convertible_to<std::string> Text>
  PeerAddress(Text&& endpoint, std::optional<PublicKey> key = std::nullopt)
      : endpoint(std::forward<Text>(endpoint)), key(key) {}

  std::string endpoint;
  std::optional<PublicKey> key;

  friend bool operator==(const PeerAddress&, const PeerAddress&) = default;
};

}  // namespace stencil
