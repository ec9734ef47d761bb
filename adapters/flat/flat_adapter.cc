#include "adapters/flat/flat_adapter.h"

#include <string>
#include <utility>

namespace fast {
namespace {

std::vector<stencil::ParameterSlot> one_slot(std::size_t size) {
  return {{.name = "values", .shape = {static_cast<std::int64_t>(size)}}};
}

}  // namespace

FlatAdapter::FlatAdapter(std::vector<float>& values)
    : FlatAdapter(values, one_slot(values.size())) {}

FlatAdapter::FlatAdapter(std::vector<float>& values, std::vector<stencil::ParameterSlot> parameters)
    : values_(values), parameters_(std::move(parameters)), size_(values.size()) {
  std::size_t end = 0;
  for (auto& slot : parameters_) {
    slot.offset = end;
    slot.size = 1;
    for (const auto extent : slot.shape) {
      if (extent < 0) {
        throw AdapterError("parameter '" + slot.name + "' has a negative dimension",
                           "give each dimension as 0 or more");
      }
      slot.size *= static_cast<std::size_t>(extent);
    }
    end += slot.size;
  }
  if (end != size_) {
    throw AdapterError("the parameters describe " + std::to_string(end) +
                           " floats, the vector holds " + std::to_string(size_),
                       "give names and shapes for exactly what lies in the vector");
  }
}

std::vector<stencil::ParameterSlot> FlatAdapter::parameters() const {
  return parameters_;
}

std::span<float> FlatAdapter::values() {
  if (values_.size() != size_) {
    throw AdapterError("the vector was attached with " + std::to_string(size_) +
                           " floats and now holds " + std::to_string(values_.size()),
                       "keep its size while it is attached, or make a new adapter and session");
  }
  return values_;
}

std::vector<NamedTensor> FlatAdapter::state() {
  const auto all = values();
  std::vector<NamedTensor> result;
  result.reserve(parameters_.size());
  for (const auto& slot : parameters_) {
    result.push_back({.name = slot.name,
                      .dtype = "F32",
                      .shape = slot.shape,
                      .bytes = std::as_writable_bytes(all.subspan(slot.offset, slot.size))});
  }
  return result;
}

}  // namespace fast
