#include "fast/run/json.h"

#include <cstdint>
#include <limits>

namespace fast {
namespace {

using nlohmann::json;

bool fits_int(const json& value) {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned()) {
    return value.get<std::uint64_t>() <= std::numeric_limits<int>::max();
  }
  const auto wide = value.get<std::int64_t>();
  return wide >= std::numeric_limits<int>::min() && wide <= std::numeric_limits<int>::max();
}

void conform_object(json& object, const json& sample, std::string_view name) {
  if (!object.is_object()) throw WrongField(name);
  const auto all = sample.find("*");
  for (auto& [key, value] : object.items()) {
    const auto it = all != sample.end() ? all : sample.find(key);
    if (it != sample.end()) conform(value, *it, key);
  }
}

}  // namespace

void conform(json& value, const json& sample, std::string_view name) {
  bool right = false;
  switch (sample.type()) {
    case json::value_t::object:
      if (const auto it = sample.find("?"); it != sample.end()) {
        return value.is_null() ? void() : conform(value, *it, name);
      }
      return conform_object(value, sample, name);
    case json::value_t::array:
      right = value.is_array();
      if (!right || sample.empty()) break;
      for (json& element : value) conform(element, sample.front(), name);
      break;
    case json::value_t::number_unsigned:
      right = value.is_number_unsigned();
      break;
    case json::value_t::number_integer:
      right = fits_int(value);
      break;
    case json::value_t::number_float:
      right = value.is_number() || value.is_null();
      if (value.is_null()) value = std::numeric_limits<double>::quiet_NaN();
      break;
    default:
      right = value.type() == sample.type();
  }
  if (!right) throw WrongField(name);
}

}  // namespace fast
