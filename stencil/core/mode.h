#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stencil/core/codec_spec.h"

namespace stencil {

/// How workers come to agree.
struct Mode {
  enum class Kind : std::uint8_t { kAsync, kBounded, kSync };
  Kind kind = Kind::kAsync;
  std::uint32_t bound = 0;  ///< K of bounded:K, in steps

  /// "async" | "bounded:K" (K >= 1) | "sync". Throws ConfigError that lists them.
  static Mode parse(std::string_view text);
  [[nodiscard]] std::string name() const;
};

/// What Mode::parse() takes, for help texts.
inline constexpr std::string_view kModeForms = "async, bounded:K or sync";

/// Throws ConfigError where the two do not go together.
void check_codec(const CodecSpec& codec, const Mode& mode);

}  // namespace stencil
