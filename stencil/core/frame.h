#pragma once

#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "stencil/core/payload.h"

namespace stencil {

/// One connection to another endpoint, dialled by us or by them. Never reused within a transport.
using LinkId = std::uint64_t;

/// Serialised headers: all but those with texts fit without an allocation.
using HeaderBytes = boost::container::small_vector<std::byte, 128>;

/// Largest legal header; longer ones are no frames of ours.
inline constexpr std::size_t kMaxHeaderBytes = 4096;

/// What a transport carries: an opaque header (protobuf, see wire/) and an optional payload.
struct Frame {
  HeaderBytes header;
  Payload payload;
  /// It may go before payloads that wait to be sent; never before a frame without one.
  bool urgent = false;
};

/// Where `frame` belongs among those that wait, the first `begun` of which are being sent already.
/// `frame_of` makes a Frame of an element.
template <typename Waiting, typename FrameOf>
[[nodiscard]] auto place_in_line(Waiting& waiting, std::size_t begun, const Frame& frame,
                                 FrameOf frame_of) {
  auto place = waiting.end();
  if (!frame.urgent) return place;
  const auto first = waiting.begin() + static_cast<std::ptrdiff_t>(begun);
  while (place > first && frame_of(*std::prev(place)).payload) --place;
  return place;
}

}  // namespace stencil
