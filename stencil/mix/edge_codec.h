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
/// what a reply to it holds, and what each end makes of them. A run has one for each neighbour, for
/// a codec may keep what it knows of that one.
///
/// What every codec keeps: each delta that answer() adds at one end is subtracted by settle() at
/// the other, as decoded from the same bytes, and merge() at one end changes z by the exact
/// negative of merge() at the other; so the mean over workers stays. Where the outcome is not
/// finite, or malformed, nothing was changed.
///
/// Payloads have the sizes of the forms, which the caller has checked. The caller holds the
/// bucket's lock. One thread.
class EdgeCodec {
 public:
  virtual ~EdgeCodec() = default;

  /// Of a bucket of `floats` values.
  [[nodiscard]] virtual CodedForm offer_form(std::size_t floats) const = 0;
  [[nodiscard]] virtual CodedForm reply_form(std::size_t floats) const = 0;

  /// Writes what the neighbour is shown of z.
  [[nodiscard]] virtual edge_delta::Outcome offer(BucketValues ours, std::span<std::byte> out) = 0;

  /// Their offer: d = (theirs - z) / divisor into `reply`, and p += d as decoded from there.
  [[nodiscard]] virtual edge_delta::Outcome answer(BucketValues ours,
                                                   std::span<const std::byte> offer, int divisor,
                                                   std::span<std::byte> reply) = 0;

  /// Their reply to `offer`, an offer of ours: p -= d.
  [[nodiscard]] virtual edge_delta::Outcome settle(BucketValues ours,
                                                   std::span<const std::byte> offer,
                                                   std::span<const std::byte> reply,
                                                   int divisor) = 0;

  /// Two offers crossed, not both of them exact: p += (theirs - ours) / 2, as far as both ends know
  /// it from the two payloads.
  [[nodiscard]] virtual edge_delta::Outcome merge(BucketValues ours, CodedOffer offered,
                                                  CodedOffer theirs) = 0;

  /// z was taken over from a neighbour: there is no news in it.
  virtual void adopted(BucketValues /*ours*/) {}
};

}  // namespace stencil
