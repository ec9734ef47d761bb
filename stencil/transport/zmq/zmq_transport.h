#pragma once

#include <memory>

#include "stencil/transport/factory.h"

namespace stencil {

/// Frames over ZeroMQ ("tcp://", "ipc://"): one ROUTER that listens, one DEALER for each dialled
/// link, one context of its own. A message is two parts, header and payload (empty for none).
/// After drop() of an inbound link a further frame from that side opens a new one: ZeroMQ 4.3
/// cannot hang up on a single peer. Throws ConfigError where it cannot listen.
[[nodiscard]] std::unique_ptr<Transport> make_zmq_transport(const TransportOptions& options);

}  // namespace stencil
