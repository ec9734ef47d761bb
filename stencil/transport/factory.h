#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "stencil/core/types.h"
#include "stencil/transport/transport.h"

namespace stencil {

struct TransportOptions {
  /// "tcp://HOST:PORT" with port 0 or * for one handed out by the system; "inproc://NAME"; "" to
  /// accept nobody and only dial.
  std::string listen;
  std::size_t max_frame_bytes = 1 << 20;  ///< a longer message is discarded unread
  std::size_t queue_frames = 64;          ///< bound of each link's send and receive queue
  Duration linger = std::chrono::seconds(1);  ///< how long the destructor may flush
  Duration reconnect_min = std::chrono::milliseconds(50);
  Duration reconnect_max = std::chrono::seconds(2);
  std::size_t max_links = 1024;           ///< inbound links remembered; the oldest idle goes first
};

/// Chooses by the scheme of `options.listen` ("tcp" when empty). Throws ConfigError that names the
/// endpoint and the cause (port in use, unknown scheme, no such interface). The only place that
/// knows the concrete transports.
[[nodiscard]] std::unique_ptr<Transport> make_transport(const TransportOptions& options);

}  // namespace stencil
