#include "stencil/mix/codecs/dense.h"

#include <utility>

#include "stencil/codec/fp32_codec.h"

namespace stencil {

using edge_delta::Outcome;

DenseEdgeCodec::DenseEdgeCodec(Numbered values, Numbered differences)
    : values_(std::move(values)), differences_(std::move(differences)) {}

DenseEdgeCodec::DenseEdgeCodec()
    : DenseEdgeCodec({std::make_unique<Fp32Codec>(), kExact},
                     {std::make_unique<Fp32Codec>(), kExact}) {}

CodedForm DenseEdgeCodec::offer_form(std::size_t floats) const {
  return {values_.number, values_.codec->encoded_size(floats)};
}

CodedForm DenseEdgeCodec::reply_form(std::size_t floats) const {
  return {differences_.number, differences_.codec->encoded_size(floats)};
}

Outcome DenseEdgeCodec::offer(BucketValues ours, std::span<std::byte> out) {
  return {.finite = edge_delta::offer(ours.y, ours.p, *values_.codec, out)};
}

Outcome DenseEdgeCodec::answer(BucketValues ours, std::span<const std::byte> offer, int divisor,
                               std::span<std::byte> reply) {
  return edge_delta::answer(ours.y, ours.p, *values_.codec, offer, divisor, *differences_.codec,
                            reply);
}

Outcome DenseEdgeCodec::complete(BucketValues ours, std::span<const std::byte> /*offer*/,
                                 std::span<const std::byte> reply, int divisor) {
  return edge_delta::complete(ours.p, *differences_.codec, reply, divisor);
}

Outcome DenseEdgeCodec::merge(BucketValues ours, CodedOffer offered, CodedOffer theirs) {
  const Fp32Codec fp32;
  const auto codec_of = [&](const CodedOffer& offer) -> const Codec& {
    if (offer.exact) return fp32;
    return *values_.codec;
  };
  return edge_delta::merge(ours.p, codec_of(offered), offered.bytes, codec_of(theirs),
                           theirs.bytes);
}

}  // namespace stencil
