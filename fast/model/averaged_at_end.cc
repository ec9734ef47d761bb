#include "fast/model/averaged_at_end.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "fast/errors.h"
#include "stencil/core/element_type.h"

namespace fast {
namespace {

constexpr char kBases[] = "averaged/bases";
constexpr char kSlots[] = "averaged/slots";
constexpr char kAdded[] = "averaged/added";

std::size_t elements(const NamedTensor& tensor) {
  std::size_t count = 1;
  for (const std::int64_t side : tensor.shape) count *= static_cast<std::size_t>(side);
  return count;
}

/// Equal but for the rounding of a sum, as a model is taken over.
bool near(float a, float b) {
  return std::abs(a - b) <= 1e-5F * std::max(std::abs(a), std::abs(b));
}

std::vector<StagedMemory::Place> places(const std::vector<NamedTensor>& arrays) {
  std::vector<StagedMemory::Place> out;
  for (const NamedTensor& array : arrays) {
    const auto type = stencil::element_type(array.dtype);
    if (!type) {
      throw AdapterError(
          "'" + array.name + "' is of type " + array.dtype + ", of which there is no mean",
          "average arrays of type F32, F64, F16 or BF16; carry others");
    }
    out.push_back({array.bytes.data(), elements(array), *type});
  }
  return out;
}

}  // namespace

AveragedAtEnd::AveragedAtEnd(std::vector<NamedTensor> arrays, float* memory)
    : arrays_(std::move(arrays)),
      own_(places(arrays_)),
      bases_(own_.values().begin(), own_.values().end()),
      memory_(memory == nullptr ? bases_.size() : 0),
      slots_(memory == nullptr ? memory_.data() : memory, bases_.size()) {
  std::ranges::copy(bases_, slots_.begin());
}

std::vector<NamedTensor> AveragedAtEnd::slots() {
  std::vector<NamedTensor> out;
  std::span<float> left = slots_;
  for (const NamedTensor& array : arrays_) {
    const std::size_t size = elements(array);
    out.push_back({.name = "mean of " + array.name,
                   .dtype = std::string(stencil::name(stencil::ElementType::kF32)),
                   .shape = array.shape,
                   .bytes = std::as_writable_bytes(left.first(size))});
    left = left.subspan(size);
  }
  return out;
}

void AveragedAtEnd::move(std::size_t index, std::span<std::byte> bytes) {
  if (bytes.size() != arrays_[index].bytes.size()) {
    throw AdapterError("'" + arrays_[index].name + "' has " + std::to_string(bytes.size()) +
                           " bytes and had " + std::to_string(arrays_[index].bytes.size()),
                       "keep its shape and type, or open another session");
  }
  own_.move(index, bytes.data());
}

void AveragedAtEnd::save(StateWriter& to) {
  if (empty()) return;
  to.put(kBases, std::span<const float>(bases_));
  to.put<float>(kSlots, slots_);
  to.put(kAdded, static_cast<std::int64_t>(added_));
}

void AveragedAtEnd::load(const StateReader& from) {
  if (empty()) return;
  from.read(kBases, std::span(bases_));
  from.read(kSlots, slots_);
  added_ = from.value<std::int64_t>(kAdded) != 0;
}

void AveragedAtEnd::take_slots() {
  own_.pull(0, slots_.size());
  const std::span<float> own = own_.values();
  std::ranges::copy(slots_, own.begin());
  own_.push(0, slots_.size());
}

void AveragedAtEnd::model_replaced() {
  if (std::ranges::equal(slots_, bases_, near)) return;
  std::ranges::copy(slots_, bases_.begin());
  added_ = false;
  take_slots();
}

bool AveragedAtEnd::finishing() {
  if (std::exchange(added_, true)) return false;
  own_.pull(0, slots_.size());
  const std::span<const float> own = own_.values();
  // Who has finished before may have moved the slots already, so this adds to what is there.
  for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i] += own[i] - bases_[i];
  return !empty();
}

void AveragedAtEnd::finished(bool agreed) {
  if (added_ && agreed) take_slots();
}

}  // namespace fast
