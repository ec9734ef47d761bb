#pragma once

#include <memory>

#include "stencil/transport/factory.h"

namespace stencil {

/// Frames over ZeroMQ ("zmq://HOST:PORT", "zmq+ipc://PATH"): one ROUTER that listens, a DEALER for
/// each dialled link, one context of its own with one thread. A message is a header and, where
/// there is one, a payload. With TransportOptions::keys, CURVE on every link. Throws ConfigError
/// where it cannot listen.
[[nodiscard]] std::unique_ptr<Transport> make_zmq_transport(const TransportOptions& options);

}  // namespace stencil
