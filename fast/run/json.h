#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "stencil/runtime/exchange_option_fields.h"

/// FAST_JSON(Type, member, ..): a plain struct as a JSON object of its members, in this order. It
/// is nlohmann's NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT for objects that keep their order.
/// For untrusted input, see from_foreign_json().
#define FAST_JSON(Type, ...)                                                                \
  template <typename Json>                                                                  \
  void to_json(Json& nlohmann_json_j, const Type& nlohmann_json_t) {                        \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, __VA_ARGS__))                \
  }                                                                                         \
  template <typename Json>                                                                  \
  void from_json(const Json& nlohmann_json_j, Type& nlohmann_json_t) {                      \
    const Type nlohmann_json_default_obj{};                                                 \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_FROM_WITH_DEFAULT, __VA_ARGS__)) \
  }

namespace nlohmann {

/// std::nullopt is null.
template <typename T>
struct adl_serializer<std::optional<T>> {
  template <typename Json>
  static void to_json(Json& json, const std::optional<T>& value) {
    json = value ? Json(*value) : Json(nullptr);
  }
  template <typename Json>
  static void from_json(const Json& json, std::optional<T>& value) {
    value = json.is_null() ? std::nullopt : std::optional<T>(json.template get<T>());
  }
};

}  // namespace nlohmann

namespace fast {

/// A field of a wrong type or range in untrusted JSON.
class WrongField : public std::runtime_error {
 public:
  explicit WrongField(std::string_view name)
      : std::runtime_error("field \"" + std::string(name) + "\" is of a wrong type or range") {}
};

/// Checks that each value of `json` that `sample` has too is of the same type. Whole numbers must
/// fit their type and must not be fractions. Where the sample has a fraction, null becomes NaN,
/// since numbers that are not finite are written as null. In the sample, an array's only element
/// stands for all elements, the key "*" for all keys, and optional_sample() for a value that may be
/// null. Ignores fields that the sample does not have. Throws WrongField.
void conform(nlohmann::json& json, const nlohmann::json& sample, std::string_view name = "");

[[nodiscard]] inline nlohmann::json optional_sample(const nlohmann::json& sample) {
  return {{"?", sample}};
}

/// A struct from untrusted JSON. Throws WrongField.
template <typename T>
[[nodiscard]] T from_foreign_json(nlohmann::json json, const nlohmann::json& sample) {
  conform(json, sample);
  try {
    return json.get<T>();
  } catch (const nlohmann::json::exception& error) {
    throw WrongField(error.what());
  }
}

}  // namespace fast

namespace stencil {

/// All options as one JSON object, see visit_fields().
template <typename Json>
void to_json(Json& json, const ExchangeOptions& options) {
  const auto write = [&json](const auto& field, const auto& value) {
    json[std::string(field.key)] = value;
  };
  visit_fields(options, write);
}

/// A record that does not name an option was written before the option existed.
template <typename Json>
void from_json(const Json& json, ExchangeOptions& options) {
  const auto read = [&json](const auto& field, auto& value) {
    using Value = std::remove_reference_t<decltype(value)>;
    const auto it = json.find(std::string(field.key));
    value = it != json.end() ? it->template get<Value>() : Value(field.before);
  };
  visit_fields(options, read);
}

}  // namespace stencil
