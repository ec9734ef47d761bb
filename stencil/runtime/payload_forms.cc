#include "stencil/runtime/payload_forms.h"

#include <algorithm>

#include "stencil/codec/fp32_codec.h"
#include "stencil/mix/blocks.h"
#include "stencil/mix/codecs/dense.h"
#include "stencil/mix/codecs/kinds.h"

namespace stencil {

PayloadForms::PayloadForms(const CodecSpec& spec, const Mixer& mixer, const Carried& carried,
                           std::size_t most)
    : spec_(spec),
      mixer_(mixer),
      carried_(carried),
      exact_(std::make_unique<DenseEdgeCodec>()),
      pulled_as_(pulled_as(spec)),
      pulled_(stencil::make_codec(pulled_as_)),
      most_(most) {
  const auto codec = make_codec({});
  if (carried.chunks() > 0) largest_ = carried.size(0);
  for (std::uint32_t bucket = 0; bucket < mixer.bucket_count(); ++bucket) {
    for (const bool exact : {true, false}) {
      largest_ = std::max({largest_, offer(*codec, bucket, exact).bytes,
                           reply(*codec, bucket, exact).bytes, snapshot(bucket, exact).bytes});
    }
  }
}

std::unique_ptr<EdgeCodec> PayloadForms::make_codec(std::span<const float> initial) const {
  return make_edge_codec(spec_, mixer_.layout(), initial);
}

CodedForm PayloadForms::in_fp32(std::uint32_t bucket) const {
  if (is_telemetry(bucket)) return {kExact, mixer_.telemetry_bytes()};
  return {kExact, mixer_.floats(bucket) * sizeof(float)};
}

/// The telemetry's scalars pass no codec, but their messages name the run's codec.
CodedForm PayloadForms::offer(const EdgeCodec& codec, std::uint32_t bucket, bool exact) const {
  if (exact) return in_fp32(bucket);
  if (is_telemetry(bucket)) return {pulled_as_, mixer_.telemetry_bytes()};
  return codec.offer_form(mixer_.floats(bucket));
}

CodedForm PayloadForms::reply(const EdgeCodec& codec, std::uint32_t bucket, bool exact) const {
  if (exact) return in_fp32(bucket);
  const CodedForm form = codec.reply_form(mixer_.floats(bucket));
  return is_telemetry(bucket) ? CodedForm{form.codec, mixer_.telemetry_bytes()} : form;
}

CodedForm PayloadForms::snapshot(std::uint32_t bucket, bool exact) const {
  const std::uint32_t buckets = mixer_.bucket_count();
  if (bucket >= buckets) return {kExact, carried_.size(bucket - buckets)};
  if (exact) return in_fp32(bucket);
  if (is_telemetry(bucket)) return {pulled_as_, mixer_.telemetry_bytes()};
  return {pulled_as_, pulled_->encoded_size(mixer_.floats(bucket))};
}

bool PayloadForms::fits(const EdgeCodec& codec, const Message& message) const {
  const auto is = [](const CodedForm& form, CodecNumber number, const Payload& payload) {
    return form.codec == number && form.bytes == view(payload).size();
  };
  if (const auto* sent = message.as<Offer>()) {
    if (sent->bucket >= mixer_.bucket_count()) return false;
    if (!sent->payload) return true;
    return is(offer(codec, sent->bucket, sent->codec == kExact), sent->codec, sent->payload);
  }
  if (const auto* sent = message.as<Reply>()) {
    if (sent->status != ReplyStatus::kDelta) return !sent->payload;
    if (sent->bucket >= mixer_.bucket_count() || sent->divisor == 0) return false;
    return is(reply(codec, sent->bucket, sent->codec == kExact), sent->codec, sent->payload);
  }
  if (const auto* sent = message.as<Snapshot>()) {
    const std::uint32_t carried = sent->round == 0 ? carried_.chunks() : 0;
    if (sent->bucket >= mixer_.bucket_count() + carried) return false;
    return is(snapshot(sent->bucket, sent->round == 0), sent->codec, sent->payload);
  }
  return true;
}

bool PayloadForms::is_sound(const Message& message) const {
  const Snapshot* const snapshot = message.as<Snapshot>();
  if (snapshot == nullptr || snapshot->round != 0 || is_telemetry(snapshot->bucket) ||
      snapshot->bucket >= mixer_.bucket_count()) {
    return true;
  }
  std::span<const std::byte> rest = view(snapshot->payload);
  Block values;
  bool finite = true;
  while (!rest.empty()) {
    const std::size_t floats = std::min(values.size(), rest.size() / sizeof(float));
    finite &= Fp32Codec().decode(rest.first(floats * sizeof(float)), {values.data(), floats});
    rest = rest.subspan(floats * sizeof(float));
  }
  return finite;
}

std::optional<std::span<std::byte>> PayloadForms::give(Payload& payload, std::size_t bytes) {
  if (!payloads_.has_room(bytes, most_)) return std::nullopt;
  return payloads_.give(payload, bytes, largest_);
}

}  // namespace stencil
