#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace stencil {

/// Untrusted text prepared for an error message: printable, in quotes, of bounded length.
[[nodiscard]] std::string in_quotes(std::string_view text);

/// In hexadecimal digits, as few as there are.
[[nodiscard]] std::string hex(std::uint64_t value);

/// "a, b, c"
[[nodiscard]] std::string listed(std::span<const std::string_view> words);

/// The candidate that `word` is most likely a misspelling of (edit distance at most a third of its
/// length, or 2); empty where none is near.
[[nodiscard]] std::string_view nearest(std::string_view word,
                                       std::span<const std::string_view> candidates);

/// " (did you mean torus?)" for a word that is near a candidate, or "".
[[nodiscard]] std::string suggestion(std::string_view word,
                                     std::span<const std::string_view> candidates);

/// Throws ConfigError, "KIND 'WORD' is unknown (did you mean ..?); use one of ..", where `word` is
/// no candidate.
void check_choice(std::string_view kind, std::string_view word,
                  std::span<const std::string_view> candidates);

}  // namespace stencil
