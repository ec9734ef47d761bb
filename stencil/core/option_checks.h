#pragma once

#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <type_traits>

#include "stencil/core/error.h"
#include "stencil/core/option_field.h"

namespace stencil {

/// An option's value as people write it: "0.15", "true", "auto" for none.
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

/// A visitor that throws ConfigError at the first value which its field does not allow.
class OptionChecks {
 public:
  explicit OptionChecks(OptionNaming naming) : naming_(naming) {}

  template <typename T>
  void operator()(const OptionField<T>& field, const T& value) const {
    if (field.check) field.check(value);
    if constexpr (std::is_arithmetic_v<T>) check_range(field, value);
  }
  template <typename T>
  void operator()(const OptionField<std::optional<T>>& field, const std::optional<T>& value) const {
    if (field.check) field.check(value);
    if (value) check_range(field, *value);
  }

 private:
  template <typename Field, typename T>
  void check_range(const Field& field, const T& value) const {
    if (field.range.contains(static_cast<double>(value))) return;
    throw ConfigError(naming_(field.key) + " " + option_text(value) + " is out of range",
                      std::string(field.remedy));
  }

  OptionNaming naming_;
};

}  // namespace stencil
