#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "stencil/codec/int_codec.h"
#include "stencil/core/codec_spec.h"

namespace stencil {

inline void PrintTo(CodecKind kind, std::ostream* out) {
  *out << name(kind);
}

namespace test {

/// What a dense codec is held to.
struct CodecCase {
  CodecKind kind;
  /// Bounds of |decode(encode(x)) - x|: relative for large values, absolute for tiny ones.
  double relative_error;
  double absolute_error;
  float largest;  ///< the largest value that survives; greater ones become it
  /// The consensus distance that an exchange of it falls to while training goes on.
  double floor;
  /// How many neighbours share a scale; the relative error is of the largest magnitude among them.
  std::size_t block = 1;
};
inline void PrintTo(const CodecCase& codec, std::ostream* out) {
  PrintTo(codec.kind, out);
}

/// To add a codec: a line here.
inline constexpr std::array kCodecCases = {
    CodecCase{CodecKind::kFp32, 0, 0, std::numeric_limits<float>::max(), 1e-4},
    CodecCase{CodecKind::kFp16, 0x1p-11, 0x1p-25, 65504.0F, 3e-4},
    CodecCase{CodecKind::kBf16, 0x1p-8, 0x1p-134, 0x1.fep127F, 2.4e-3},
    CodecCase{CodecKind::kInt8, 0x1p-6, 0x1p-126, 127 * 0x1p121F, 3e-4, IntCodec::kBlock},
    CodecCase{CodecKind::kInt4, 0x1p-2, 0x1p-126, 7 * 0x1p125F, 1e-6, IntCodec::kBlock},
};

constexpr const CodecCase& codec_case(CodecKind kind) {
  for (const CodecCase& codec : kCodecCases) {
    if (codec.kind == kind) return codec;
  }
  throw std::logic_error("no line in kCodecCases");
}
static_assert(std::ranges::all_of(kDenseCodecs,
                                  [](CodecKind kind) { return codec_case(kind).kind == kind; }),
              "each dense codec has a line in kCodecCases");

/// A run's codec of each kind, dense or not; `share` is for those that send a part.
inline std::vector<CodecSpec> every_codec(std::uint32_t share) {
  std::vector<CodecSpec> codecs;
  for (std::size_t i = 0; i < kCodecNames.size(); ++i) {
    const CodecSpec whole(static_cast<CodecKind>(i));
    codecs.push_back(whole.valid() ? whole : CodecSpec(whole.kind, share));
  }
  return codecs;
}

/// The same without fp32, which loses nothing.
inline std::vector<CodecSpec> lossy_codecs(std::uint32_t share) {
  std::vector<CodecSpec> codecs = every_codec(share);
  std::erase(codecs, CodecSpec(CodecKind::kFp32));
  return codecs;
}

/// "int8": for names of tests.
inline std::string codec_name(CodecKind kind) {
  return std::string(name(kind));
}

}  // namespace test
}  // namespace stencil
