#include "adapters/flat/flat_adapter.h"

#include <cstdint>
#include <string>
#include <utility>

namespace fast {
namespace {

std::vector<ParameterSlot> one_slot(std::size_t size) {
  return {{.name = "values", .shape = {static_cast<std::int64_t>(size)}}};
}

/// Fills in offsets and sizes. Returns where the last one ends.
std::size_t lay_out(std::vector<ParameterSlot>& parameters) {
  std::size_t end = 0;
  for (ParameterSlot& slot : parameters) {
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
  return end;
}

std::vector<ParameterSlot> slots_of(const std::vector<NamedTensor>& tensors) {
  std::vector<ParameterSlot> slots;
  for (const NamedTensor& tensor : tensors) {
    slots.push_back({.name = tensor.name, .shape = tensor.shape});
  }
  return slots;
}

/// The memory that all of them are, end to end.
std::span<float> joined(const std::vector<NamedTensor>& tensors) {
  std::byte* begin = nullptr;
  std::byte* end = nullptr;
  for (const NamedTensor& tensor : tensors) {
    if (tensor.dtype != "F32") {
      throw AdapterError("parameter '" + tensor.name + "' is of type " + tensor.dtype,
                         "exchange parameters of type F32");
    }
    if (tensor.bytes.empty()) continue;
    if (begin == nullptr) begin = end = tensor.bytes.data();
    if (tensor.bytes.data() != end) {
      throw AdapterError("parameter '" + tensor.name + "' does not lie behind the one before it",
                         "let all parameters be parts of one array, in their order");
    }
    end += tensor.bytes.size();
  }
  if (reinterpret_cast<std::uintptr_t>(begin) % alignof(float) != 0) {
    throw AdapterError("the parameters' memory is not aligned as floats are",
                       "begin at a multiple of 4 bytes");
  }
  return {reinterpret_cast<float*>(begin), static_cast<std::size_t>(end - begin) / sizeof(float)};
}

}  // namespace

FlatAdapter::FlatAdapter(std::vector<float>& values)
    : FlatAdapter(values, one_slot(values.size())) {}

FlatAdapter::FlatAdapter(std::vector<float>& values, std::vector<ParameterSlot> parameters)
    : FlatAdapter(&values, values, std::move(parameters), {}) {}

FlatAdapter::FlatAdapter(std::span<float> values) : FlatAdapter(values, one_slot(values.size())) {}

FlatAdapter::FlatAdapter(std::span<float> values, std::vector<ParameterSlot> parameters)
    : FlatAdapter(nullptr, values, std::move(parameters), {}) {}

FlatAdapter::FlatAdapter(std::vector<NamedTensor> parameters, std::vector<NamedTensor> buffers)
    : FlatAdapter(nullptr, joined(parameters), slots_of(parameters), std::move(buffers)) {}

FlatAdapter::FlatAdapter(std::vector<float>* vector, std::span<float> values,
                         std::vector<ParameterSlot> parameters, std::vector<NamedTensor> buffers)
    : vector_(vector),
      values_(values),
      parameters_(std::move(parameters)),
      buffers_(std::move(buffers)) {
  const std::size_t end = lay_out(parameters_);
  if (end != values_.size()) {
    throw AdapterError("the parameters describe " + std::to_string(end) +
                           " floats, the vector holds " + std::to_string(values_.size()),
                       "give names and shapes for exactly what lies in the vector");
  }
}

std::vector<ParameterSlot> FlatAdapter::parameters() const {
  return parameters_;
}

std::span<float> FlatAdapter::values() {
  if (vector_ == nullptr) return values_;
  if (vector_->size() != values_.size()) {
    throw AdapterError("the vector was attached with " + std::to_string(values_.size()) +
                           " floats and now holds " + std::to_string(vector_->size()),
                       "keep its size while it is attached, or make a new adapter and session");
  }
  return values_ = *vector_;
}

std::vector<NamedTensor> FlatAdapter::state() {
  const auto all = values();
  std::vector<NamedTensor> result;
  result.reserve(parameters_.size() + buffers_.size());
  for (const auto& slot : parameters_) {
    result.push_back({.name = slot.name,
                      .dtype = "F32",
                      .shape = slot.shape,
                      .bytes = std::as_writable_bytes(all.subspan(slot.offset, slot.size))});
  }
  result.insert(result.end(), buffers_.begin(), buffers_.end());
  return result;
}

}  // namespace fast
