#pragma once

#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "stencil/core/error.h"
#include "stencil/core/option_field.h"

namespace stencil {

// An option's value as people write it: "0.15", "true", "auto" for none, and of a map of ranks
// "3=tcp://10.0.0.3:5555,4=.." or "1:4,2:8".

[[nodiscard]] inline std::string option_text(const std::string& value) {
  return value;
}
[[nodiscard]] inline std::string option_text(bool value) {
  return value ? "true" : "false";
}
template <typename T>
requires std::is_arithmetic_v<T>
[[nodiscard]] std::string option_text(T value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}
template <typename T>
[[nodiscard]] std::string option_text(const std::optional<T>& value) {
  return value ? option_text(*value) : "auto";
}

/// The sign between a rank and its value in a map.
template <typename T>
inline constexpr char kPairSign = std::is_arithmetic_v<T> ? ':' : '=';

/// One entry of a map.
template <typename T>
[[nodiscard]] std::string pair_text(int rank, const T& value) {
  return option_text(rank) + kPairSign<T> + option_text(value);
}
template <typename T>
[[nodiscard]] std::string option_text(const std::map<int, T>& value) {
  std::string text;
  for (const auto& [rank, one] : value) {
    if (!text.empty()) text += ',';
    text += pair_text(rank, one);
  }
  return text;
}

// The inverse. Returns false, and leaves `value` unchanged, where `text` is not a value of its
// type.

[[nodiscard]] inline bool read_option(std::string_view text, std::string& value) {
  value = text;
  return true;
}
[[nodiscard]] bool read_option(std::string_view text, bool& value);
template <typename T>
requires std::is_arithmetic_v<T>
[[nodiscard]] bool read_option(std::string_view text, T& value) {
  T read{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  value = read;
  return true;
}
template <typename T>
[[nodiscard]] bool read_option(std::string_view text, std::optional<T>& value) {
  T read{};
  if (text != "auto" && !read_option(text, read)) return false;
  value = text == "auto" ? std::nullopt : std::optional(read);
  return true;
}

/// Adds one entry of a map. Throws ConfigError where `text` is not an entry or names a rank a
/// second time.
template <typename T>
void read_pair(std::string_view text, const OptionField<std::map<int, T>>& field,
               OptionNaming naming, std::map<int, T>& out) {
  const auto& [example_rank, example] = *field.example.begin();
  const std::string name = naming(field.key);
  const std::string remedy = "write " + std::string(field.unit) + ", e.g. " + name + " " +
                             pair_text(example_rank, example);
  const auto at = text.find(kPairSign<T>);
  int rank = -1;
  if (at == std::string_view::npos || !read_option(text.substr(0, at), rank) || rank < 0) {
    throw ConfigError(name + " " + std::string(text) + ": not " + std::string(field.unit), remedy);
  }
  T value{};
  if (!read_option(text.substr(at + 1), value)) {
    throw ConfigError(name + " " + std::string(text) + ": '" + std::string(text.substr(at + 1)) +
                          "' is no number",
                      remedy);
  }
  if (!out.emplace(rank, std::move(value)).second) {
    throw ConfigError(name + " names rank " + std::to_string(rank) + " twice", "name it once");
  }
}

}  // namespace stencil
