#pragma once

#include <cstddef>

#include "stencil/core/error.h"
#include "stencil/core/frame.h"
#include "stencil/core/message.h"

namespace stencil {

/// Message -> Frame: a protobuf header (proto/wire.proto) with an XXH3 hash of the payload. The
/// payload is passed on by reference, never copied into a protobuf field.
[[nodiscard]] Frame encode_frame(const Message& message);

/// Frame -> Message. Never throws, never reads outside the frame; unknown enum values, over-long
/// strings, checksum mismatches and malformed headers are Errors.
[[nodiscard]] Result<Message> decode_frame(const Frame& frame);

}  // namespace stencil
