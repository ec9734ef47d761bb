#pragma once

#include <optional>
#include <string>
#include <type_traits>

#include "stencil/core/error.h"
#include "stencil/core/option_field.h"
#include "stencil/core/option_text.h"

namespace stencil {

/// A visitor that throws ConfigError at the first value that its field does not allow.
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
