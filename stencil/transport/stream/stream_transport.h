#pragma once

#include <memory>

#include "stencil/transport/factory.h"

namespace stencil {

/// Frames over stream sockets ("tcp://", "ipc://"), in the caller's thread alone: one that listens,
/// one connection for each dialled link, all waited for on the caller's loop. Payloads are written
/// from where they lie and received where they will be used. After drop() of an inbound link a
/// further frame from that side opens a new one. Throws ConfigError where it cannot listen.
[[nodiscard]] std::unique_ptr<Transport> make_stream_transport(const TransportOptions& options);

}  // namespace stencil
