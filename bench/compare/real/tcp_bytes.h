#pragma once

#include <cstdint>
#include <map>

namespace fast::compare {

/// What this process has sent over the TCP connections that it held open when this was made, as the
/// kernel counts them (TCP_INFO: payload, what was sent again left out). For libraries that count
/// nothing themselves. One thread.
class TcpBytes {
 public:
  TcpBytes();
  /// So far. Of a connection that was closed meanwhile: until the count before.
  std::uint64_t count();

 private:
  std::map<int, std::uint64_t> sent_;  ///< by descriptor
};

}  // namespace fast::compare
