#pragma once

#include <boost/container/small_vector.hpp>
#include <cstddef>

#include "stencil/core/payload.h"

namespace stencil {

/// Serialised headers: all but those with texts fit without an allocation.
using HeaderBytes = boost::container::small_vector<std::byte, 128>;

/// What a transport carries: an opaque header (protobuf, see wire/) and an optional payload.
struct Frame {
  HeaderBytes header;
  Payload payload;
};

}  // namespace stencil
