#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "stencil/transport/stream/frame_reader.h"

namespace fast::testing {

/// What a stream transport says on its sockets, for those who speak to one by hand.
inline std::string greeting() {
  return {reinterpret_cast<const char*>(stencil::kGreeting.data()), stencil::kGreeting.size()};
}

inline std::string lengths(std::uint32_t header, std::uint32_t payload) {
  std::string bytes;
  for (const std::uint32_t value : {header, payload}) {
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift & 0xFF);
  }
  return bytes;
}

inline std::string framed(const std::string& header, const std::string& payload) {
  return lengths(static_cast<std::uint32_t>(header.size()),
                 static_cast<std::uint32_t>(payload.size())) +
         header + payload;
}

}  // namespace fast::testing
