#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace stencil {

using Bytes = std::vector<std::byte>;

/// Immutable, reference-counted bytes of one bucket: may be held by the pump (until the other side
/// has settled) and by a transport (until sent) at once. Null means no payload.
using Payload = std::shared_ptr<const Bytes>;

[[nodiscard]] inline std::span<const std::byte> view(const Payload& payload) {
  return payload ? std::span<const std::byte>(*payload) : std::span<const std::byte>();
}

/// What a transport carries: an opaque header (protobuf, see wire/) and an optional payload.
struct Frame {
  Bytes header;
  Payload payload;
};

}  // namespace stencil
