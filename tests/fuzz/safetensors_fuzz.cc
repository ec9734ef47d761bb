#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "fast/errors.h"
#include "fast/run/safetensors.h"

// An untrusted model file is refused with a FileError, or every tensor lies inside it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(data), size);
  try {
    const fast::SafetensorsContent content = fast::parse_safetensors(file, "fuzz");
    std::size_t total = 0;
    for (const fast::TensorView& tensor : content.tensors) {
      total += tensor.bytes.size();
      if (tensor.bytes.data() < file.data() ||
          tensor.bytes.data() + tensor.bytes.size() > file.data() + size) {
        std::abort();
      }
    }
    if (total > size) std::abort();
  } catch (const fast::FileError&) {
  }
  return 0;
}
