#pragma once

#include <memory>
#include <optional>

#include "stencil/codec/codec.h"
#include "stencil/codec/top_k.h"

namespace stencil {

/// Which message of a run is coded how: the one place that says so. A run is configured with one
/// codec, but two kinds of numbers travel:
/// - values, the model itself, offered or pulled: their coding error does not shrink as workers
///   agree, so they keep 8 bits and more where the configured codec is coarser, or tell the last
///   bits alone, which at the other end are of a value that is known nearly (residue.h);
/// - differences, the replies: they shrink as workers agree, and both ends apply what was decoded,
///   so a coarse codec slows agreement a little and moves no mean.
///
///     --codec            fp32   fp16   bf16   int8   int4       topk:F
///     values offered     fp32   fp16   bf16   fp16   residues   a part, in fp32
///     values pulled      fp32   fp16   bf16   fp16   fp16       -
///     differences        fp32   fp16   bf16   int8   int4       of that part, in fp16
///
/// While a worker joins and when a run ends all goes exactly, in fp32, and so does the reply to
/// values that came exactly. Immutable.
class Codecs {
 public:
  explicit Codecs(CodecSpec configured);

  [[nodiscard]] const Codec& exact() const { return *exact_; }
  [[nodiscard]] const Codec& values() const { return *values_; }
  [[nodiscard]] const Codec& differences() const { return *differences_; }
  /// What offers of the model and their replies are while training, where that is a part of each
  /// bucket; null otherwise, and then values() and differences() are.
  [[nodiscard]] const TopK* top_k() const { return top_k_ ? &*top_k_ : nullptr; }
  /// How buckets of the model are offered while training: kTopK, kInt4 where those are residues, or
  /// the kind of values().
  [[nodiscard]] CodecKind offered() const;

  /// Bytes of an offer and of a reply while training, for a bucket of `floats`.
  [[nodiscard]] std::size_t offer_size(std::size_t floats) const;
  [[nodiscard]] std::size_t reply_size(std::size_t floats) const;

  /// Reads a payload that a neighbour says is coded as `kind`; nothing where such a message of this
  /// run is never coded so, or is a part.
  [[nodiscard]] const Codec* reader(MessageKind message, CodecKind kind) const;

 private:
  std::unique_ptr<Codec> exact_, values_, differences_;
  std::optional<TopK> top_k_;
};

}  // namespace stencil
