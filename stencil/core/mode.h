#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stencil {

/// How the exchange is synchronised; see stencil/README.md, "Modes".
struct Mode {
  enum class Kind : std::uint8_t { kAsync, kBounded, kSync };
  Kind kind = Kind::kAsync;
  std::uint32_t bound = 0;  ///< K of bounded:K, in steps

  /// Takes "async", "bounded:K" (K >= 1) or "sync". Throws ConfigError, which lists them, for
  /// others.
  static Mode parse(std::string_view text);
  [[nodiscard]] std::string name() const;
};

/// What Mode::parse() takes, for help texts.
inline constexpr std::string_view kModeForms = "async, bounded:K or sync";

}  // namespace stencil
