#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "stencil/core/codec_spec.h"
#include "stencil/core/message.h"
#include "stencil/core/payload_pool.h"
#include "stencil/mix/mixer.h"
#include "stencil/runtime/carried.h"
#include "stencil/runtime/edge.h"

namespace stencil {

/// The coding and the size of each message's payload, see mix/codecs/kinds.cc, and the memory for
/// our own payloads. One thread.
class PayloadForms {
 public:
  /// `mixer` and `carried` must outlive this.
  /// `most`: payloads of large and of small size, each, that may exist at once.
  PayloadForms(const CodecSpec& spec, const Mixer& mixer, const Carried& carried,
               std::size_t most = SIZE_MAX);

  /// The codec of a new edge.
  [[nodiscard]] std::unique_ptr<EdgeCodec> make_codec(std::span<const float> initial) const;

  // `exact`: in fp32, used while a worker joins and when a run ends.
  [[nodiscard]] CodedForm offer(const EdgeCodec& codec, std::uint32_t bucket, bool exact) const;
  [[nodiscard]] CodedForm reply(const EdgeCodec& codec, std::uint32_t bucket, bool exact) const;
  [[nodiscard]] CodedForm snapshot(std::uint32_t bucket, bool exact) const;

  /// Whether the payload of a neighbour's message has the codec and the size that such a message
  /// must have. `codec`: the edge's.
  [[nodiscard]] bool fits(const EdgeCodec& codec, const Message& message) const;
  /// Whether the payload is none, or could be a part of a model that a newcomer copies: finite. Ask
  /// it of messages that fit, before a copied bucket counts.
  [[nodiscard]] bool is_sound(const Message& message) const;
  /// The codec of an offer and its reply: the neighbour's, or the exact one.
  [[nodiscard]] EdgeCodec& coding(const Edge& edge, bool exact) {
    return exact ? *exact_ : *edge.codec;
  }
  /// How whole models are pulled in lock step.
  [[nodiscard]] const Codec& pulled() const { return *pulled_; }

  /// Gives `payload` memory of `bytes`, which the caller fills before it sends. Nothing where as
  /// many payloads exist as may: some that were sent on a link that stands still.
  [[nodiscard]] std::optional<std::span<std::byte>> give(Payload& payload, std::size_t bytes);
  /// The most payloads that existed at once, and the memory of all.
  [[nodiscard]] std::size_t made() const { return payloads_.made(); }
  [[nodiscard]] std::size_t bytes() const { return payloads_.bytes(largest_); }

 private:
  [[nodiscard]] CodedForm in_fp32(std::uint32_t bucket) const;
  [[nodiscard]] bool is_telemetry(std::uint32_t bucket) const {
    return bucket == mixer_.telemetry_bucket();
  }

  CodecSpec spec_;
  const Mixer& mixer_;
  const Carried& carried_;
  std::unique_ptr<EdgeCodec> exact_;
  CodecNumber pulled_as_;
  std::unique_ptr<const Codec> pulled_;
  BucketPool payloads_;
  std::size_t most_;
  std::size_t largest_ = 0;  ///< bytes
};

}  // namespace stencil
