#pragma once

#include <memory>

#include "stencil/codec/codec.h"

namespace stencil {

/// Which message of a run is coded how: the one place that says so. A run is configured with one
/// codec, but two kinds of numbers travel:
/// - values, the model itself, offered or pulled: their coding error does not shrink as workers
///   agree, so they keep 8 bits and more where the configured codec is coarser;
/// - differences, the replies: they shrink as workers agree, and both ends apply what was decoded,
///   so a coarse codec slows agreement a little and moves no mean.
///
///     --codec       fp32   fp16   bf16   int8
///     values        fp32   fp16   bf16   fp16
///     differences   fp32   fp16   bf16   int8
///
/// While a worker joins and when a run ends all goes exactly, in fp32, and so does the reply to
/// values that came exactly. Immutable.
class Codecs {
 public:
  explicit Codecs(CodecKind configured);

  [[nodiscard]] const Codec& exact() const { return *exact_; }
  [[nodiscard]] const Codec& values() const { return *values_; }
  [[nodiscard]] const Codec& differences() const { return *differences_; }

  /// Reads a payload that a neighbour says is coded as `kind`; nothing where such a message of this
  /// run is never coded so.
  [[nodiscard]] const Codec* reader(MessageKind message, CodecKind kind) const;

 private:
  std::unique_ptr<Codec> exact_, values_, differences_;
};

}  // namespace stencil
