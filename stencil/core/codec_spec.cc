#include "stencil/core/codec_spec.h"

#include <charconv>
#include <cmath>
#include <optional>

#include "stencil/core/error.h"

namespace stencil {
namespace {

constexpr std::string_view kTopKPrefix = "topk:";

std::optional<CodecSpec> parse_top_k(std::string_view fraction) {
  double value = 0;
  const char* const last = fraction.data() + fraction.size();
  const auto [end, error] = std::from_chars(fraction.data(), last, value, std::chars_format::fixed);
  if (error != std::errc() || end != last || !(value > 0 && value <= 1)) return std::nullopt;
  const CodecSpec spec(CodecKind::kTopK,
                       static_cast<std::uint32_t>(std::lround(value * CodecSpec::kWhole)));
  return spec.valid() ? std::optional(spec) : std::nullopt;
}

}  // namespace

std::string name(const CodecSpec& spec) {
  if (spec.kind != CodecKind::kTopK) return std::string(name(spec.kind));
  std::string digits = std::to_string(CodecSpec::kWhole + spec.share).substr(1);
  digits.erase(digits.find_last_not_of('0') + 1);
  return std::string(kTopKPrefix) + "0." + digits;
}

std::vector<std::string> codec_choices() {
  std::vector<std::string> choices;
  for (const CodecKind kind : kDenseCodecs) choices.emplace_back(name(kind));
  choices.emplace_back(kTopKPrefix);
  return choices;
}

std::string codec_forms() {
  std::string forms;
  for (const CodecKind kind : kDenseCodecs) forms += std::string(name(kind)) + ", ";
  return forms + std::string(kTopKPrefix) + "F";
}

CodecSpec parse_codec(std::string_view text) {
  for (const CodecKind kind : kDenseCodecs) {
    if (name(kind) == text) return kind;
  }
  if (text.starts_with(kTopKPrefix)) {
    if (const auto spec = parse_top_k(text.substr(kTopKPrefix.size()))) return *spec;
  }
  throw ConfigError("codec '" + std::string(text) + "' is unknown",
                    "use one of " + codec_forms() + " with 0 < F <= 0.5, e.g. topk:0.01");
}

}  // namespace stencil
