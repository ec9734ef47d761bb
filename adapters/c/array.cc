#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "adapters/c/handle.h"
#include "fast/run/safetensors.h"

namespace fast::c {

NamedTensor array(fast_role role, const char* name, const char* type, std::size_t rank,
                  const std::int64_t* shape, void* memory) {
  if (name == nullptr || type == nullptr || (shape == nullptr && rank > 0)) {
    throw ConfigError("an array without name, type or shape",
                      "give all of them; the shape of a scalar has rank 0");
  }
  if (role != FAST_TRAINED && role != FAST_AVERAGED && role != FAST_CARRIED) {
    throw ConfigError("the array '" + std::string(name) + "' has the role " + std::to_string(role),
                      "use FAST_TRAINED, FAST_AVERAGED or FAST_CARRIED");
  }
  NamedTensor tensor{
      .name = name, .dtype = type, .shape = {}, .bytes = {}, .role = static_cast<Role>(role)};
  std::uint64_t bytes = dtype_size(tensor.dtype);
  if (bytes == 0) {
    throw ConfigError(
        "'" + tensor.name + "' is of type '" + tensor.dtype + "', which is unknown",
        "use F32, F64, F16 or BF16, or of FAST_CARRIED one of those that fast_array() lists");
  }
  for (const std::int64_t side : std::span(shape, rank)) {
    const auto most = static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max());
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
  tensor.bytes = {static_cast<std::byte*>(memory), static_cast<std::size_t>(bytes)};
  return tensor;
}

}  // namespace fast::c
