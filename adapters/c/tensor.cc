#include <cstdint>
#include <limits>
#include <span>

#include "adapters/c/handle.h"
#include "fast/run/safetensors.h"

namespace fast::c {

NamedTensor tensor(const char* name, const char* type, std::size_t rank, const std::int64_t* shape,
                   void* memory) {
  if (name == nullptr || type == nullptr || (shape == nullptr && rank > 0)) {
    throw ConfigError("a parameter or buffer without name, type or shape",
                      "give all of them; the shape of a scalar has rank 0");
  }
  NamedTensor tensor{.name = name, .dtype = type, .shape = {}, .bytes = {}};
  std::uint64_t bytes = dtype_size(tensor.dtype);
  if (bytes == 0) {
    throw ConfigError("'" + tensor.name + "' is of type '" + tensor.dtype + "', which is unknown",
                      "use F32, F64, F16, BF16, I64, I32, I16, I8, U8 or BOOL");
  }
  for (const std::int64_t side : std::span(shape, rank)) {
    const auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (side < 0 || (side > 0 && bytes > most / static_cast<std::uint64_t>(side))) {
      throw ConfigError("'" + tensor.name + "' has a side of " + std::to_string(side),
                        "give sides of 0 or more whose product is the number of elements");
    }
    tensor.shape.push_back(side);
    bytes *= static_cast<std::uint64_t>(side);
  }
  if (memory == nullptr && bytes > 0) {
    throw ConfigError("'" + tensor.name + "' has no memory", "pass the address of its elements");
  }
  tensor.bytes = {static_cast<std::byte*>(memory), bytes};
  return tensor;
}

}  // namespace fast::c
