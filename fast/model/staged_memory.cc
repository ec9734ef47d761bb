#include "fast/model/staged_memory.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "stencil/core/half_floats.h"

namespace fast {
namespace {

using stencil::ElementType;

// Elements may lie at any address, so they are loaded and stored as bytes.
template <typename T>
T load(const std::byte* from, std::size_t index) {
  T value;
  std::memcpy(&value, from + index * sizeof(T), sizeof(T));
  return value;
}
template <typename T>
void store(T value, std::byte* to, std::size_t index) {
  std::memcpy(to + index * sizeof(T), &value, sizeof(T));
}

void load_floats(ElementType type, const std::byte* from, float* to, std::size_t count) {
  switch (type) {
    case ElementType::kF32:
      std::memcpy(to, from, count * sizeof(float));
      return;
    case ElementType::kF64:
      for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<float>(load<double>(from, i));
      return;
    case ElementType::kF16:
      for (std::size_t i = 0; i < count; ++i) {
        to[i] = stencil::float_from_half(load<std::uint16_t>(from, i));
      }
      return;
    case ElementType::kBF16:
      for (std::size_t i = 0; i < count; ++i) {
        to[i] = stencil::float_from_bf16(load<std::uint16_t>(from, i));
      }
      return;
  }
}

/// `value` as a double, with the digits of `old` that a float does not have.
double kept_digits(double old, float value) {
  const float seen = static_cast<float>(old);
  return seen == value ? old : old + (static_cast<double>(value) - static_cast<double>(seen));
}

void store_floats(ElementType type, const float* from, std::byte* to, std::size_t count) {
  switch (type) {
    case ElementType::kF32:
      std::memcpy(to, from, count * sizeof(float));
      return;
    case ElementType::kF64:
      for (std::size_t i = 0; i < count; ++i) {
        store(kept_digits(load<double>(to, i), from[i]), to, i);
      }
      return;
    case ElementType::kF16:
      for (std::size_t i = 0; i < count; ++i) store(stencil::to_half(from[i]), to, i);
      return;
    case ElementType::kBF16:
      for (std::size_t i = 0; i < count; ++i) store(stencil::to_bf16(from[i]), to, i);
      return;
  }
}

}  // namespace

StagedMemory::StagedMemory(std::vector<Place> places) : places_(std::move(places)) {
  std::size_t size = 0;
  for (const Place& place : places_) {
    offsets_.push_back(size);
    size += place.count;
  }
  values_.resize(size);
  pull(0, size);
}

template <typename Visit>
void StagedMemory::each(std::size_t first, std::size_t count, Visit visit) {
  const std::size_t end = first + count;
  auto index =
      static_cast<std::size_t>(std::ranges::upper_bound(offsets_, first) - offsets_.begin());
  for (index -= index > 0 ? 1 : 0; index < places_.size() && offsets_[index] < end; ++index) {
    const Place& place = places_[index];
    const std::size_t begin = std::max(first, offsets_[index]);
    const std::size_t stop = std::min(end, offsets_[index] + place.count);
    if (begin >= stop) continue;
    std::byte* const at = place.memory + (begin - offsets_[index]) * element_bytes(place.type);
    visit(place.type, at, values_.data() + begin, stop - begin);
  }
}

void StagedMemory::pull(std::size_t first, std::size_t count) {
  each(first, count, [](ElementType type, const std::byte* at, float* values, std::size_t size) {
    load_floats(type, at, values, size);
  });
}

void StagedMemory::push(std::size_t first, std::size_t count) {
  each(first, count, [](ElementType type, std::byte* at, const float* values, std::size_t size) {
    store_floats(type, values, at, size);
  });
}

}  // namespace fast
