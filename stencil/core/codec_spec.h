#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stencil {

/// How values are coded on the wire; one file each in codec/.
enum class CodecKind : std::uint8_t { kFp32, kFp16, kBf16, kInt8, kTopK, kInt4 };
inline constexpr std::array<std::string_view, 6> kCodecNames = {"fp32", "fp16", "bf16",
                                                                "int8", "topk", "int4"};
/// Those that code every value of a bucket. kTopK sends a part of them, as they are.
inline constexpr std::array kDenseCodecs = {CodecKind::kFp32, CodecKind::kFp16, CodecKind::kBf16,
                                            CodecKind::kInt8, CodecKind::kInt4};

[[nodiscard]] constexpr std::string_view name(CodecKind kind) {
  return kCodecNames.at(static_cast<std::size_t>(kind));
}

/// A run's codec as it is configured and compared by neighbours. Value type.
struct CodecSpec {
  CodecKind kind = CodecKind::kFp32;
  /// kTopK: the part of a bucket that an offer shows, in millionths; 0 for the others.
  std::uint32_t share = 0;

  static constexpr std::uint32_t kWhole = 1'000'000;
  /// With more, indices and values would take more bytes than all values.
  static constexpr std::uint32_t kLargestShare = kWhole / 2;

  constexpr CodecSpec() = default;
  constexpr CodecSpec(CodecKind kind, std::uint32_t share = 0) : kind(kind), share(share) {}
  friend bool operator==(const CodecSpec&, const CodecSpec&) = default;

  [[nodiscard]] constexpr bool valid() const {
    return kind == CodecKind::kTopK ? share > 0 && share <= kLargestShare : share == 0;
  }
};

/// As --codec calls it: "fp16", "topk:0.01".
[[nodiscard]] std::string name(const CodecSpec& spec);

/// "fp32", "fp16", .., "topk:": how the names of codecs begin.
[[nodiscard]] std::vector<std::string> codec_choices();

/// "fp32, fp16, .., topk:F": what parse_codec() takes.
[[nodiscard]] std::string codec_forms();

/// "fp32" | "fp16" | "bf16" | "int8" | "int4" | "topk:F" with 0 < F <= 0.5, to six decimals. Throws
/// ConfigError that lists them.
[[nodiscard]] CodecSpec parse_codec(std::string_view text);

}  // namespace stencil
