#pragma once

#include <memory>

#include "stencil/codec/codec.h"
#include "stencil/mix/edge_codec.h"

namespace stencil {

/// Offers show every value and replies hold every difference, each coded by a Codec. It has no
/// state per neighbour.
class DenseEdgeCodec final : public EdgeCodec {
 public:
  /// A Codec with its number on the wire.
  struct Numbered {
    std::unique_ptr<const Codec> codec;
    CodecNumber number = kExact;
  };
  DenseEdgeCodec(Numbered values, Numbered differences);
  /// Both in fp32.
  DenseEdgeCodec();

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

 private:
  Numbered values_, differences_;
};

}  // namespace stencil
