#pragma once

#include <cstddef>
#include <string_view>

namespace fast {

/// Gives take() what follows each comma of `text`, from behind, until it returns false: names may
/// hold commas, too. Returns what is left, the name.
template <typename Take>
[[nodiscard]] std::string_view take_parts(std::string_view text, Take take) {
  for (std::size_t comma = text.rfind(','); comma != text.npos; comma = text.rfind(',')) {
    if (!take(text.substr(comma + 1))) break;
    text = text.substr(0, comma);
  }
  return text;
}

/// The share of a data set that is for testing, of "test=0.1". Throws ConfigError.
inline constexpr std::string_view kTestShare = "test=";
[[nodiscard]] double test_share(std::string_view part);

}  // namespace fast
