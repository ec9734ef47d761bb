#pragma once

#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "stencil/core/payload.h"

namespace stencil {

/// One connection to another endpoint, dialled by either side. A transport never reuses a number.
using LinkId = std::uint64_t;

/// A serialised header. All but those that hold texts fit without an allocation.
using HeaderBytes = boost::container::small_vector<std::byte, 128>;

/// The largest legal header, in bytes. A frame with a longer one is malformed.
inline constexpr std::size_t kMaxHeaderBytes = 4096;

/// What a transport carries: an opaque header (protobuf, see wire/) and an optional payload.
struct Frame {
  HeaderBytes header;
  Payload payload;
  /// The frame may overtake waiting frames that have a payload, but none that has not.
  bool urgent = false;
};

/// Where to insert `frame` in the queue `waiting`, of which the first `begun` frames are already
/// being sent. `frame_of` gives the Frame of an element.
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
