#include "adapters/flat/flat_adapter.h"

#include <cstdint>
#include <string_view>
#include <utility>

namespace fast {
namespace {

using stencil::ElementType;

std::vector<ParameterSlot> one_slot(std::size_t size) {
  return {{.name = "values", .shape = {static_cast<std::int64_t>(size)}}};
}

/// Fills in offsets and sizes. Returns the end of the last parameter.
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
    const auto type = stencil::element_type(tensor.dtype);
    if (!type) {
      throw AdapterError(
          "parameter '" + tensor.name + "' is of type " + tensor.dtype,
          "exchange parameters of type F32, F64, F16 or BF16; others can be buffers");
    }
    slots.push_back({.name = tensor.name, .shape = tensor.shape, .type = *type});
  }
  (void)lay_out(slots);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::size_t bytes = slots[i].size * element_bytes(slots[i].type);
    if (tensors[i].bytes.size() == bytes) continue;
    throw AdapterError("parameter '" + slots[i].name + "' has " +
                           std::to_string(tensors[i].bytes.size()) + " bytes, its shape wants " +
                           std::to_string(bytes),
                       "give the shape of that memory");
  }
  return slots;
}

/// The single array of floats that the tensors form; nothing where they do not.
std::optional<std::span<float>> joined(const std::vector<NamedTensor>& tensors) {
  std::byte* begin = nullptr;
  std::byte* end = nullptr;
  for (const NamedTensor& tensor : tensors) {
    if (tensor.bytes.empty()) continue;
    if (begin == nullptr) begin = end = tensor.bytes.data();
    if (tensor.dtype != name(ElementType::kF32) || tensor.bytes.data() != end) return std::nullopt;
    end += tensor.bytes.size();
  }
  if (reinterpret_cast<std::uintptr_t>(begin) % alignof(float) != 0) return std::nullopt;
  return std::span(reinterpret_cast<float*>(begin),
                   static_cast<std::size_t>(end - begin) / sizeof(float));
}

template <typename T>
NamedTensor tensor_of(std::string name, ElementType type, std::span<T> values,
                      std::vector<std::int64_t> shape) {
  if (shape.empty()) shape = {static_cast<std::int64_t>(values.size())};
  return {.name = std::move(name),
          .dtype = std::string(stencil::name(type)),
          .shape = std::move(shape),
          .bytes = std::as_writable_bytes(values)};
}

}  // namespace

FlatAdapter::FlatAdapter(std::vector<float>& values)
    : FlatAdapter(values, one_slot(values.size())) {}

FlatAdapter::FlatAdapter(std::vector<float>& values, std::vector<ParameterSlot> parameters)
    : FlatAdapter(&values, values, std::move(parameters)) {}

FlatAdapter::FlatAdapter(std::span<float> values) : FlatAdapter(values, one_slot(values.size())) {}

FlatAdapter::FlatAdapter(std::span<float> values, std::vector<ParameterSlot> parameters)
    : FlatAdapter(nullptr, values, std::move(parameters)) {}

FlatAdapter::FlatAdapter(std::vector<float>* vector, std::span<float> values,
                         std::vector<ParameterSlot> parameters)
    : vector_(vector), values_(values), parameters_(std::move(parameters)) {
  const std::size_t end = lay_out(parameters_);
  if (end != values_.size()) {
    throw AdapterError("the parameters describe " + std::to_string(end) +
                           " floats, the vector holds " + std::to_string(values_.size()),
                       "give names and shapes for exactly the floats of the vector");
  }
}

FlatAdapter::FlatAdapter(std::vector<NamedTensor> parameters, std::vector<NamedTensor> buffers)
    : parameters_(slots_of(parameters)),
      tensors_(std::move(parameters)),
      buffers_(std::move(buffers)) {
  (void)lay_out(parameters_);
  if (const auto array = joined(tensors_)) {
    values_ = *array;
    return;
  }
  stage();
}

/// Exchanges through a copy from now on.
void FlatAdapter::stage() {
  std::vector<StagedMemory::Place> places;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    places.push_back({tensors_[i].bytes.data(), parameters_[i].size, parameters_[i].type});
  }
  values_ = staged_.emplace(std::move(places)).values();
}

void FlatAdapter::move(std::size_t index, std::byte* memory) {
  if (tensors_.at(index).bytes.data() == memory) return;
  tensors_[index].bytes = {memory, tensors_[index].bytes.size()};
  if (staged_) {
    staged_->move(index, memory);
  } else {
    stage();
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

void FlatAdapter::pull(std::size_t first, std::size_t count) {
  if (staged_) staged_->pull(first, count);
}

void FlatAdapter::push(std::size_t first, std::size_t count) {
  if (staged_) staged_->push(first, count);
}

std::vector<NamedTensor> FlatAdapter::state() {
  std::vector<NamedTensor> result = tensors_;
  if (tensors_.empty()) {
    const auto all = values();
    for (const auto& slot : parameters_) {
      result.push_back(memory_of(slot.name, all.subspan(slot.offset, slot.size), slot.shape));
      result.back().shape = slot.shape;
    }
  }
  for (const NamedTensor& buffer : buffers_) {
    result.push_back(buffer);
    result.back().role = Role::kCarried;
  }
  return result;
}

NamedTensor memory_of(std::string name, std::span<float> values, std::vector<std::int64_t> shape) {
  return tensor_of(std::move(name), ElementType::kF32, values, std::move(shape));
}

NamedTensor memory_of(std::string name, std::span<double> values, std::vector<std::int64_t> shape) {
  return tensor_of(std::move(name), ElementType::kF64, values, std::move(shape));
}

}  // namespace fast
