#pragma once

#include <cstdint>
#include <map>

namespace fast::compare {

/// The bytes that this process has sent over the TCP connections that were open at construction, as
/// the kernel counts them (TCP_INFO: payload, without retransmissions). For libraries that do not
/// count bytes. One thread.
class TcpBytes {
 public:
  TcpBytes();
  /// The bytes so far. A connection that was closed counts as of the call before.
  std::uint64_t count();

 private:
  std::map<int, std::uint64_t> sent_;  ///< by descriptor
};

}  // namespace fast::compare
