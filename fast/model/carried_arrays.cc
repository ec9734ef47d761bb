#include "fast/model/carried_arrays.h"

#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "fast/errors.h"
#include "stencil/core/start_hash.h"
#include "stencil/core/text.h"

namespace fast {
namespace {

std::vector<NamedTensor> carried_of(ModelAdapter& adapter) {
  std::vector<NamedTensor> arrays = adapter.state();
  std::erase_if(
      arrays, [](const NamedTensor& array) { return array.role != Role::kCarried || array.alias; });
  return arrays;
}

std::uint64_t add(std::uint64_t hash, std::string_view text) {
  return XXH64(text.data(), text.size(), hash);
}

}  // namespace

std::vector<std::byte> carried_bytes(ModelAdapter& adapter) {
  std::vector<std::byte> bytes;
  for (const NamedTensor& array : carried_of(adapter)) {
    bytes.insert(bytes.end(), array.bytes.begin(), array.bytes.end());
  }
  return bytes;
}

void set_carried(ModelAdapter& adapter, std::span<const std::byte> bytes) {
  for (const NamedTensor& array : carried_of(adapter)) {
    if (bytes.size() < array.bytes.size()) {
      throw AdapterError("the array '" + array.name + "' has changed its size in training",
                         "keep the shapes of frozen parameters and buffers");
    }
    std::ranges::copy(bytes.first(array.bytes.size()), array.bytes.begin());
    bytes = bytes.subspan(array.bytes.size());
  }
}

stencil::ArrayList array_list(const stencil::Layout& layout, ModelAdapter& adapter) {
  std::vector<std::string> texts;
  for (const ParameterSlot& slot : layout.parameters()) {
    texts.push_back(slot.name + " " + std::string(stencil::name(slot.type)) + " " +
                    stencil::shape_text(slot.shape));
  }
  for (const NamedTensor& array : carried_of(adapter)) {
    texts.push_back(array.name + " " + array.dtype + " " + stencil::shape_text(array.shape) +
                    ", which nobody trains");
  }
  return stencil::ArrayList(std::move(texts));
}

std::string describe_carried(ModelAdapter& adapter) {
  const std::vector<NamedTensor> arrays = carried_of(adapter);
  if (arrays.empty()) return "none";
  std::uint64_t hash = 0;
  std::size_t bytes = 0;
  for (const NamedTensor& array : arrays) {
    hash = add(add(hash, array.name), array.dtype);
    hash = XXH64(array.shape.data(), array.shape.size() * sizeof array.shape[0], hash);
    bytes += array.bytes.size();
  }
  return std::to_string(arrays.size()) + " of " + std::to_string(bytes) + " bytes (" +
         stencil::hex(hash) + ")";
}

std::uint64_t hash_of_start(std::span<const float> values, std::span<const std::byte> carried) {
  stencil::StartHash hash;
  hash.add_values(std::as_bytes(values));
  hash.add_carried(carried);
  return hash.value();
}

}  // namespace fast
