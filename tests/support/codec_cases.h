#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "stencil/codec/int_codec.h"
#include "stencil/mix/codecs/kinds.h"

namespace stencil {

inline void PrintTo(const CodecSpec& codec, std::ostream* out) {
  *out << name(codec);
}

namespace test {

/// The bounds of a dense codec.
struct CodecCase {
  std::string_view name;
  /// Bounds of |decode(encode(x)) - x|: relative for large values, absolute for tiny ones.
  double relative_error;
  double absolute_error;
  float largest;  ///< the largest value; greater ones saturate to it
  /// The consensus distance that an exchange in it reaches during training.
  double floor;
  /// How many adjacent values share a scale; the relative error is of the largest magnitude among
  /// them.
  std::size_t block = 1;
};
inline void PrintTo(const CodecCase& codec, std::ostream* out) {
  *out << codec.name;
}

/// To add a dense codec: a line here.
inline constexpr std::array kCodecCases = {
    CodecCase{"fp32", 0, 0, std::numeric_limits<float>::max(), 1e-4},
    CodecCase{"fp16", 0x1p-11, 0x1p-25, 65504.0F, 3e-4},
    CodecCase{"bf16", 0x1p-8, 0x1p-134, 0x1.fep127F, 2.4e-3},
    CodecCase{"int8", 0x1p-6, 0x1p-126, 127 * 0x1p121F, 3e-4, IntCodec::kBlock},
    CodecCase{"int4", 0x1p-2, 0x1p-126, 7 * 0x1p125F, 2e-6, IntCodec::kBlock},
};

/// Throws std::logic_error where kCodecCases has no line for it.
inline const CodecCase& codec_case(const CodecSpec& codec) {
  for (const CodecCase& known : kCodecCases) {
    if (known.name == name(codec)) return known;
  }
  throw std::logic_error("no line in kCodecCases for codec " + name(codec));
}

/// One codec of each kind; `share` is for those that send a part.
inline std::vector<CodecSpec> every_codec(std::uint32_t share) {
  std::vector<CodecSpec> codecs;
  for (const CodecKind& kind : codec_kinds()) {
    codecs.push_back({kind.number, kind.parse == nullptr ? 0 : share});
  }
  return codecs;
}

/// The same without fp32, which is exact.
inline std::vector<CodecSpec> lossy_codecs(std::uint32_t share) {
  std::vector<CodecSpec> codecs = every_codec(share);
  std::erase(codecs, CodecSpec{});
  return codecs;
}

/// Those that code every value or difference of a bucket.
inline std::vector<CodecSpec> dense_codecs() {
  std::vector<CodecSpec> codecs;
  for (const CodecKind& kind : codec_kinds()) {
    if (kind.dense != nullptr) codecs.push_back({kind.number, 0});
  }
  return codecs;
}

/// "int8": for names of tests.
inline std::string codec_name(const CodecSpec& codec) {
  std::string text = name(codec);
  std::ranges::replace_if(
      text, [](char c) { return c == ':' || c == '.'; }, '_');
  return text;
}

}  // namespace test
}  // namespace stencil
