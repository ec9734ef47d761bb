// How each message of a run is coded. A run is configured with one codec, but two kinds of numbers
// travel:
// - values, the model itself, offered or pulled: their coding error does not shrink as workers
//   agree, so they keep at least 8 bits where the configured codec is coarser, or send only the
//   last bits of a value that the other end nearly knows (codec/residue.h);
// - differences, the replies: they shrink as workers agree, and both ends apply what was decoded,
//   so a coarse codec slows agreement a little and moves no mean.
//
//     --codec            fp32   fp16   bf16   int8   int4       topk:F
//     values offered     fp32   fp16   bf16   fp16   residues   a part, in fp32
//     values pulled      fp32   fp16   bf16   fp16   fp16       -
//     differences        fp32   fp16   bf16   int8   int4       of that part, in fp16
//
// While a worker joins and when a run ends, everything travels exactly, in fp32, and so does the
// reply to values that came exactly.

#include "stencil/mix/codecs/kinds.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "stencil/codec/bf16_codec.h"
#include "stencil/codec/fp16_codec.h"
#include "stencil/codec/fp32_codec.h"
#include "stencil/codec/int_codec.h"
#include "stencil/core/error.h"
#include "stencil/core/text.h"
#include "stencil/mix/codecs/dense.h"
#include "stencil/mix/codecs/residues.h"
#include "stencil/mix/codecs/top_k.h"

namespace stencil {
namespace {

constexpr CodecNumber kFp16 = 1, kBf16 = 2, kInt8 = 3, kTopK = 4, kInt4 = 5;

template <typename Kind, auto... arguments>
std::unique_ptr<const Codec> make() {
  return std::make_unique<const Kind>(arguments...);
}

std::unique_ptr<EdgeCodec> make_residues(const CodecSpec& spec, const Layout& layout,
                                         std::span<const float> initial) {
  return std::make_unique<ResidueEdgeCodec>(spec.number, layout, initial);
}

std::unique_ptr<EdgeCodec> make_top_k(const CodecSpec& spec, const Layout& layout,
                                      std::span<const float> initial) {
  return std::make_unique<TopKEdgeCodec>(TopK(spec.parameter), spec.number, layout, initial);
}

/// A fraction to six decimals, in millionths.
std::optional<std::uint32_t> parse_share(std::string_view text) {
  double value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value, std::chars_format::fixed);
  if (error != std::errc() || end != last || !(value > 0 && value <= 1)) return std::nullopt;
  const auto share = static_cast<std::uint32_t>(std::lround(value * TopK::kWhole));
  return share > 0 && share <= TopK::kLargestShare ? std::optional(share) : std::nullopt;
}

std::string print_share(std::uint32_t share) {
  std::string digits = std::to_string(TopK::kWhole + share).substr(1);
  digits.erase(digits.find_last_not_of('0') + 1);
  return "0." + digits;
}

// The numbers are part of the wire format and must not change.
constexpr CodecKind kKinds[] = {
    {.number = kExact, .name = "fp32", .dense = make<Fp32Codec>, .values = kExact},
    {.number = kFp16, .name = "fp16", .dense = make<Fp16Codec>, .values = kFp16},
    {.number = kBf16, .name = "bf16", .dense = make<Bf16Codec>, .values = kBf16},
    {.number = kInt8, .name = "int8", .dense = make<IntCodec, 8>, .values = kFp16},
    {.number = kInt4,
     .name = "int4",
     .dense = make<IntCodec, 4>,
     .values = kFp16,
     .edge = make_residues,
     .kept = ResidueEdgeCodec::kept},
    {.number = kTopK,
     .name = "topk",
     .in_lock_step = false,
     .edge = make_top_k,
     .kept = TopKEdgeCodec::kept,
     .form = "topk:F",
     .range = "0 < F <= 0.5, e.g. topk:0.01",
     .parse = parse_share,
     .print = print_share},
};

const CodecKind* find(CodecNumber number) {
  const auto kind = std::ranges::find(kKinds, number, &CodecKind::number);
  return kind == std::end(kKinds) ? nullptr : kind;
}

std::string prefix(const CodecKind& kind) {
  return std::string(kind.name) + (kind.parse == nullptr ? "" : ":");
}

}  // namespace

std::span<const CodecKind> codec_kinds() {
  return kKinds;
}

std::unique_ptr<const Codec> make_codec(CodecNumber number) {
  const CodecKind* const kind = find(number);
  return kind == nullptr || kind->dense == nullptr ? nullptr : kind->dense();
}

std::unique_ptr<EdgeCodec> make_edge_codec(const CodecSpec& spec, const Layout& layout,
                                           std::span<const float> initial) {
  const CodecKind* const kind = find(spec.number);
  if (kind == nullptr) throw InvariantError("make_edge_codec() of " + name(spec));
  if (kind->edge != nullptr) return kind->edge(spec, layout, initial);
  return std::make_unique<DenseEdgeCodec>(
      DenseEdgeCodec::Numbered{make_codec(kind->values), kind->values},
      DenseEdgeCodec::Numbered{kind->dense(), kind->number});
}

std::size_t edge_codec_bytes(const CodecSpec& spec, const Layout& layout) {
  const CodecKind* const kind = find(spec.number);
  return kind == nullptr || kind->kept == nullptr ? 0 : kind->kept(layout);
}

CodecNumber pulled_as(const CodecSpec& spec) {
  const CodecKind* const kind = find(spec.number);
  return kind == nullptr ? kExact : kind->values;
}

std::string name(const CodecSpec& spec) {
  const CodecKind* const kind = find(spec.number);
  if (kind == nullptr) return "codec " + std::to_string(spec.number);
  return prefix(*kind) + (kind->print == nullptr ? "" : kind->print(spec.parameter));
}

std::vector<std::string> codec_choices() {
  std::vector<std::string> choices;
  for (const CodecKind& kind : kKinds) choices.push_back(prefix(kind));
  return choices;
}

std::string codec_forms() {
  std::vector<std::string_view> forms;
  for (const CodecKind& kind : kKinds) forms.push_back(kind.form.empty() ? kind.name : kind.form);
  return listed(forms);
}

CodecSpec parse_codec(std::string_view text) {
  for (const CodecKind& kind : kKinds) {
    if (kind.parse == nullptr && text == kind.name) return {kind.number};
    if (kind.parse == nullptr || !text.starts_with(prefix(kind))) continue;
    if (const auto parameter = kind.parse(text.substr(prefix(kind).size()))) {
      return {kind.number, *parameter};
    }
  }
  std::string remedy = "use one of " + codec_forms();
  for (const CodecKind& kind : kKinds) {
    if (!kind.range.empty()) remedy += " with " + std::string(kind.range);
  }
  throw ConfigError("codec " + in_quotes(text) + " is unknown", remedy);
}

void check_codec(const CodecSpec& codec, const Mode& mode) {
  const CodecKind* const kind = find(codec.number);
  if (kind == nullptr || kind->in_lock_step || mode.kind != Mode::Kind::kSync) return;
  std::vector<std::string_view> others;
  for (const CodecKind& kind : kKinds) {
    if (kind.in_lock_step) others.push_back(kind.name);
  }
  throw ConfigError(
      "codec " + name(codec) + " sends a part of the model, mode sync needs all of it",
      "use mode async or bounded:K, or codec " + listed(others));
}

}  // namespace stencil
