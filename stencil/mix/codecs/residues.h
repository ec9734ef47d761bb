#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stencil/codec/int_codec.h"
#include "stencil/core/layout.h"
#include "stencil/mix/edge_codec.h"

namespace stencil {

/// Codec int4: the edge-delta rule (edge_delta.h) where offers are residues (codec/residue.h) and
/// replies are differences in 4 bits. Keeps, as one float for each block of 64 values, how far the
/// block last was from the neighbour's. The steps of the next offer follow from it. It decides how
/// fine an offer is and never what is applied; where an offer is too fine, the block is not read,
/// and both ends notice: a reply has the exponent 0 there, and values of 0.
class ResidueEdgeCodec final : public EdgeCodec {
 public:
  /// Until a distance is known, a block is taken to be away from the neighbour's by a thousandth of
  /// its largest value of `initial`.
  ResidueEdgeCodec(CodecNumber number, const Layout& layout, std::span<const float> initial);

  /// Bytes that one keeps.
  [[nodiscard]] static std::size_t kept(const Layout& layout) {
    return (layout.bucket_count() + 1) * blocks_of(layout) * sizeof(float);
  }

  [[nodiscard]] CodedForm offer_form(std::size_t floats) const override;
  [[nodiscard]] CodedForm reply_form(std::size_t floats) const override;
  [[nodiscard]] edge_delta::Outcome offer(BucketValues ours, std::span<std::byte> out) override;
  [[nodiscard]] edge_delta::Outcome answer(BucketValues ours, std::span<const std::byte> offer,
                                           int divisor, std::span<std::byte> reply) override;
  [[nodiscard]] edge_delta::Outcome complete(BucketValues ours, std::span<const std::byte> offer,
                                             std::span<const std::byte> reply,
                                             int divisor) override;
  [[nodiscard]] edge_delta::Outcome merge(BucketValues ours, CodedOffer offered,
                                          CodedOffer theirs) override;

  /// The largest distance of a value in each block of a bucket, from which offers take their steps.
  [[nodiscard]] std::span<float> distances(std::uint32_t bucket) {
    return std::span(distances_).subspan(bucket * blocks_, blocks_);
  }

 private:
  [[nodiscard]] static std::size_t blocks_of(const Layout& layout);

  CodecNumber number_;
  IntCodec differences_{4};
  std::size_t blocks_;  ///< of a whole bucket
  std::vector<float> distances_;
  /// Of the bucket in work, by block: the distance found; of one that was not read, the offer's
  /// step with a minus. Nothing of it counts before the whole bucket is known to be good.
  std::vector<float> found_;
};

}  // namespace stencil
