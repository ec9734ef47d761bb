#include "stencil/core/mode.h"

#include <charconv>

#include "stencil/core/error.h"

namespace stencil {

Mode Mode::parse(std::string_view text) {
  if (text == "async") return {Kind::kAsync, 0};
  if (text == "sync") return {Kind::kSync, 0};
  constexpr std::string_view kPrefix = "bounded:";
  if (text.starts_with(kPrefix)) {
    const std::string_view digits = text.substr(kPrefix.size());
    std::uint32_t bound = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bound);
    if (error == std::errc() && end == digits.data() + digits.size() && bound >= 1) {
      return {Kind::kBounded, bound};
    }
  }
  throw ConfigError("unknown mode '" + std::string(text) + "'",
                    "use " + std::string(kModeForms) + " (K >= 1)");
}

std::string Mode::name() const {
  switch (kind) {
    case Kind::kAsync:
      return "async";
    case Kind::kSync:
      return "sync";
    case Kind::kBounded:
      return "bounded:" + std::to_string(bound);
  }
  return "?";
}

}  // namespace stencil
