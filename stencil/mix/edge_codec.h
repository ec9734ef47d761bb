#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "stencil/core/codec_spec.h"
#include "stencil/mix/edge_delta.h"

namespace stencil {

/// How one kind of message is coded, and the bytes of its payload.
struct CodedForm {
  CodecNumber codec = kExact;
  std::size_t bytes = 0;
};

/// One bucket of the model as the exchange holds it, see edge_delta.h; z = y + p.
struct BucketValues {
  std::uint32_t bucket = 0;
  std::span<const float> y;
  std::span<float> p;
};

/// An offer's payload.
struct CodedOffer {
  std::span<const std::byte> bytes;
  bool exact = false;  ///< in fp32, whatever the codec
};

/// How buckets of the model travel between two neighbours while they train: what an offer shows,
/// what a reply to it holds, and how each end applies them. A worker has one for each neighbour,
/// since a codec may keep state about that neighbour.
///
/// The invariant of every codec: complete() at one end subtracts the delta that answer() added at
/// the other, decoded from the same bytes, and merge() at one end changes z by the exact negative
/// of merge() at the other. So the mean over workers is kept. Where the outcome is malformed or not
/// finite, nothing was changed.
///
/// The caller has checked that payloads have the sizes of the forms, and holds the bucket's lock.
/// All calls come from one thread.
class EdgeCodec {
 public:
  virtual ~EdgeCodec() = default;

  /// The forms of messages for a bucket of `floats` values.
  [[nodiscard]] virtual CodedForm offer_form(std::size_t floats) const = 0;
  [[nodiscard]] virtual CodedForm reply_form(std::size_t floats) const = 0;

  /// Writes the part of z that the neighbour is shown.
  [[nodiscard]] virtual edge_delta::Outcome offer(BucketValues ours, std::span<std::byte> out) = 0;

  /// Their offer: d = (theirs - z) / divisor into `reply`, and p += d as decoded from there.
  [[nodiscard]] virtual edge_delta::Outcome answer(BucketValues ours,
                                                   std::span<const std::byte> offer, int divisor,
                                                   std::span<std::byte> reply) = 0;

  /// Their reply to `offer`, an offer of ours: p -= d.
  [[nodiscard]] virtual edge_delta::Outcome complete(BucketValues ours,
                                                     std::span<const std::byte> offer,
                                                     std::span<const std::byte> reply,
                                                     int divisor) = 0;

  /// Two offers crossed, not both of them exact: p += (theirs - ours) / 2, as far as both ends know
  /// it from the two payloads.
  [[nodiscard]] virtual edge_delta::Outcome merge(BucketValues ours, CodedOffer offered,
                                                  CodedOffer theirs) = 0;

  /// z was adopted from a neighbour: nothing in it is new to that neighbour.
  virtual void adopted(BucketValues /*ours*/) {}
};

}  // namespace stencil
