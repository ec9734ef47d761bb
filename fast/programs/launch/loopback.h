#pragma once

#include <string>

namespace fast {

/// Where workers of this machine can listen for each other alone, at a port that the system hands
/// out: "127.0.0.1:0", or "[::1]:0" on a machine without IPv4.
[[nodiscard]] std::string loopback_endpoint();

}  // namespace fast
