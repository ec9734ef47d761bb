#pragma once

#include <cstdint>

namespace fast::compare {

/// What this process has sent over the TCP connections that it holds open now, as the kernel counts
/// them (TCP_INFO: payload, what was sent again left out). For libraries that count nothing
/// themselves. Any thread.
[[nodiscard]] std::uint64_t tcp_bytes_sent();

}  // namespace fast::compare
