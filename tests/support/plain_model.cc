#include "tests/support/plain_model.h"

#include <cstring>

#include "stencil/core/half_floats.h"

namespace fast::testing {
namespace {

using stencil::ElementType;

template <typename T>
void put(T value, std::byte* to) {
  std::memcpy(to, &value, sizeof value);
}
template <typename T>
T take(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

void put(double value, ElementType type, std::byte* to) {
  const auto narrow = static_cast<float>(value);
  if (type == ElementType::kF64) return put(value, to);
  if (type == ElementType::kF32) return put(narrow, to);
  put(type == ElementType::kF16 ? stencil::to_half(narrow) : stencil::to_bf16(narrow), to);
}

double take(ElementType type, const std::byte* from) {
  if (type == ElementType::kF64) return take<double>(from);
  if (type == ElementType::kF32) return take<float>(from);
  const auto bits = take<std::uint16_t>(from);
  return type == ElementType::kF16 ? stencil::float_from_half(bits)
                                   : stencil::float_from_bf16(bits);
}

}  // namespace

PlainModel::PlainModel(std::vector<ElementType> types)
    : parameters_{{"a", {3, 50}, 150, types.at(0), {}},
                  {"b", {}, 1, types.at(1), {}},
                  {"c", {0}, 0, types.at(2), {}},
                  {"d", {70}, 70, types.at(3), {}}} {
  for (Parameter& parameter : parameters_) {
    parameter.memory.resize(parameter.size * element_bytes(parameter.type));
  }
}

std::vector<NamedTensor> PlainModel::parameters() {
  std::vector<NamedTensor> tensors;
  for (Parameter& one : parameters_) {
    tensors.push_back({one.name, std::string(stencil::name(one.type)), one.shape, one.memory});
  }
  return tensors;
}

std::vector<double> PlainModel::read() const {
  std::vector<double> values;
  for (const Parameter& one : parameters_) {
    for (std::size_t i = 0; i < one.size; ++i) {
      values.push_back(take(one.type, one.memory.data() + i * element_bytes(one.type)));
    }
  }
  return values;
}

void PlainModel::write(std::span<const double> values) {
  auto value = values.begin();
  for (Parameter& one : parameters_) {
    for (std::size_t i = 0; i < one.size; ++i) {
      put(*value++, one.type, one.memory.data() + i * element_bytes(one.type));
    }
  }
}

}  // namespace fast::testing
