#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

namespace fast::json_fields {

/// A field of a wrong type or range, in JSON that somebody else may have written.
class WrongField : public std::runtime_error {
 public:
  explicit WrongField(const char* name)
      : std::runtime_error("field \"" + std::string(name) + "\" is of a wrong type or range") {}
};

/// Each reads a field of `object` into `out`, leaves `out` alone where there is none, and throws
/// WrongField where it is something else. They accept no conversion that could lose or overflow.
template <typename Json>
void read(const Json& object, const char* name, double& out) {
  const auto it = object.find(name);
  if (it == object.end()) return;
  if (it->is_null()) {
    out = std::numeric_limits<double>::quiet_NaN();
  } else if (it->is_number()) {
    out = it->template get<double>();
  } else {
    throw WrongField(name);
  }
}

template <typename Json>
void read(const Json& object, const char* name, std::uint64_t& out) {
  const auto it = object.find(name);
  if (it == object.end()) return;
  if (!it->is_number_unsigned()) throw WrongField(name);
  out = it->template get<std::uint64_t>();
}

/// An int that fits: exit codes may be negative.
template <typename Json>
int as_int(const Json& value, const char* name) {
  if (!value.is_number_integer()) throw WrongField(name);
  if (value.is_number_unsigned() && value.template get<std::uint64_t>() > 0x7fffffffU) {
    throw WrongField(name);
  }
  const auto wide = value.template get<std::int64_t>();
  if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) {
    throw WrongField(name);
  }
  return static_cast<int>(wide);
}

template <typename Json>
void read(const Json& object, const char* name, int& out) {
  const auto it = object.find(name);
  if (it != object.end()) out = as_int(*it, name);
}

template <typename Json>
void read(const Json& object, const char* name, bool& out) {
  const auto it = object.find(name);
  if (it == object.end()) return;
  if (!it->is_boolean()) throw WrongField(name);
  out = it->template get<bool>();
}

template <typename Json>
void read(const Json& object, const char* name, std::string& out) {
  const auto it = object.find(name);
  if (it == object.end()) return;
  if (!it->is_string()) throw WrongField(name);
  out = it->template get<std::string>();
}

/// Absent and null both mean "not known".
template <typename Json>
void read(const Json& object, const char* name, std::optional<double>& out) {
  const auto it = object.find(name);
  if (it == object.end() || it->is_null()) return;
  if (!it->is_number()) throw WrongField(name);
  out = it->template get<double>();
}

/// Anything that is not a finite number is written as null.
template <typename Json>
Json or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

}  // namespace fast::json_fields
