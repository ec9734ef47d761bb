#include "stencil/mix/codecs/dense.h"

#include <utility>

#include "stencil/codec/fp32_codec.h"
#include "stencil/mix/blocks.h"
#include "stencil/mix/kernels.h"

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
  Outcome outcome;
  Outgoing z(*values_.codec, out);
  for_blocks(ours.y.size(), [&](std::size_t begin, std::size_t n) {
    outcome.finite &=
        kernels::sum(&ours.y[begin], &ours.p[begin], z.space(begin), n) && z.write(begin, n);
  });
  return outcome;
}

Outcome DenseEdgeCodec::answer(BucketValues ours, std::span<const std::byte> offer, int divisor,
                               std::span<std::byte> reply) {
  Outcome outcome;
  Incoming theirs(*values_.codec, offer);
  Outgoing d(*differences_.codec, reply);
  const float beta = 1.0F / static_cast<float>(divisor);
  for_blocks(ours.y.size(), [&](std::size_t begin, std::size_t n) {
    const kernels::Sums sums = kernels::difference(theirs.block(begin, n), &ours.y[begin],
                                                   &ours.p[begin], beta, d.space(begin), n);
    outcome += sums;
    outcome.finite &= sums.finite && d.write(begin, n);
  });
  outcome.finite &= theirs.decodable();
  if (!outcome.finite) return outcome;
  // Nothing is changed before the whole bucket is known to be finite. Both ends apply the same
  // numbers, since this end also decodes `reply`, which is still in cache.
  Incoming sent(*differences_.codec, reply);
  for_blocks(ours.p.size(), [&](std::size_t begin, std::size_t n) {
    kernels::add(sent.block(begin, n), &ours.p[begin], n);
  });
  return outcome;
}

Outcome DenseEdgeCodec::complete(BucketValues ours, std::span<const std::byte> /*offer*/,
                                 std::span<const std::byte> reply, int divisor) {
  Outcome outcome;
  Incoming delta(*differences_.codec, reply);
  outcome.finite = delta.all_finite(ours.p.size());
  if (!outcome.finite) return outcome;
  for_blocks(ours.p.size(), [&](std::size_t begin, std::size_t n) {
    outcome.distance2 += kernels::subtract(delta.block(begin, n), &ours.p[begin], n);
  });
  outcome.distance2 *= static_cast<double>(divisor) * divisor;
  return outcome;
}

Outcome DenseEdgeCodec::merge(BucketValues ours, CodedOffer offered, CodedOffer theirs) {
  const Fp32Codec fp32;
  const auto codec_of = [&](const CodedOffer& offer) -> const Codec& {
    if (offer.exact) return fp32;
    return *values_.codec;
  };
  Outcome outcome;
  Incoming mine(codec_of(offered), offered.bytes), other(codec_of(theirs), theirs.bytes);
  outcome.finite = mine.all_finite(ours.p.size()) && other.all_finite(ours.p.size());
  if (!outcome.finite) return outcome;
  for_blocks(ours.p.size(), [&](std::size_t begin, std::size_t n) {
    outcome += kernels::approach(mine.block(begin, n), other.block(begin, n), &ours.p[begin], n);
  });
  return outcome;
}

}  // namespace stencil
