#pragma once

#include <cstdint>

namespace stencil {

/// A codec's number on the wire: its place in the list of mix/codecs/kinds.cc.
using CodecNumber = std::uint8_t;

/// Codec fp32: the values as they are. Joining and the end of a run use it, whatever codec the run
/// is configured with.
inline constexpr CodecNumber kExact = 0;

/// A run's codec, as a user configures it and as neighbours compare it. Value type.
struct CodecSpec {
  CodecNumber number = kExact;
  std::uint32_t parameter = 0;  ///< of codec topk: the part of a bucket, in millionths

  friend bool operator==(const CodecSpec&, const CodecSpec&) = default;
};

}  // namespace stencil
