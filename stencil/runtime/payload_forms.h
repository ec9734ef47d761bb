#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "stencil/core/codec_spec.h"
#include "stencil/core/message.h"
#include "stencil/core/payload_pool.h"
#include "stencil/mix/mixer.h"
#include "stencil/neighbour/neighbour.h"

namespace stencil {

/// How each message's payload is coded and how many bytes it takes, see mix/codecs/kinds.cc; and
/// the memory for those of ours. One thread.
class PayloadForms {
 public:
  /// `mixer` must outlive this.
  PayloadForms(const CodecSpec& spec, const Mixer& mixer);

  /// What travels on a new edge.
  [[nodiscard]] std::unique_ptr<EdgeCodec> make_codec(std::span<const float> initial) const;

  // `exact`: in fp32, as while a worker joins and when a run ends.
  [[nodiscard]] CodedForm offer(const EdgeCodec& codec, std::uint32_t bucket, bool exact) const;
  [[nodiscard]] CodedForm reply(const EdgeCodec& codec, std::uint32_t bucket, bool exact) const;
  [[nodiscard]] CodedForm snapshot(std::uint32_t bucket, bool exact) const;

  /// Whether what a neighbour sent has the form of what it says it is.
  [[nodiscard]] bool fits(const Neighbour& from, const Message& message) const;
  /// Which of the two an offer, and the reply to it, is coded by.
  [[nodiscard]] EdgeCodec& coding(const Neighbour& neighbour, bool exact) {
    if (exact) return *exact_;
    return *neighbour.codec;
  }
  /// How whole models are pulled in lock step.
  [[nodiscard]] const Codec& pulled() const { return *pulled_; }

  /// Memory for a payload, to be written before it is sent.
  [[nodiscard]] std::span<std::byte> give(Payload& payload, std::size_t bytes);
  /// The most payloads that were there at once.
  [[nodiscard]] std::size_t made() const { return payloads_.made(); }

 private:
  [[nodiscard]] CodedForm in_fp32(std::uint32_t bucket) const;
  [[nodiscard]] bool is_telemetry(std::uint32_t bucket) const {
    return bucket == mixer_.telemetry_bucket();
  }

  CodecSpec spec_;
  const Mixer& mixer_;
  std::unique_ptr<EdgeCodec> exact_;
  CodecNumber pulled_as_;
  std::unique_ptr<const Codec> pulled_;
  PayloadPool<BucketMemory> payloads_;
  std::size_t largest_ = 0;  ///< bytes
};

}  // namespace stencil
