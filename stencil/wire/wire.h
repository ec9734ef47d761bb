#pragma once

#include <cstddef>
#include <cstdint>

#include "stencil/core/error.h"
#include "stencil/core/frame.h"
#include "stencil/core/message.h"

namespace stencil {

/// How damage to a payload is found out on a link.
enum class Integrity : std::uint8_t {
  kChecksum,  ///< by an XXH3 hash in the header
  /// By the link: its cipher authenticates each byte (Received::proven). Payloads need no hash.
  kProven,
};

/// Message -> Frame: a protobuf header (proto/wire.proto), with an XXH3 hash of the payload unless
/// `link` is kProven. The payload is passed on by reference, never copied into a protobuf field.
[[nodiscard]] Frame encode_frame(const Message& message, Integrity link = Integrity::kChecksum);

/// Frame -> Message. Never throws, never reads outside the frame; unknown enum values, over-long
/// strings, checksum mismatches and malformed headers are Errors. A payload without a hash is taken
/// only where `link` is kProven; a hash that is there is always checked.
[[nodiscard]] Result<Message> decode_frame(const Frame& frame,
                                           Integrity link = Integrity::kChecksum);

}  // namespace stencil
