#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "fast/data/npy_header.h"
#include "fast/errors.h"

/// Bytes as an .npy file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> bytes(data, size);
  try {
    const fast::NpyHeader header =
        fast::parse_npy_header(bytes.first(std::min(size, fast::kNpyHeaderMost)), size, "fuzz");
    if (header.data_at + header.elements() * header.width != size) std::abort();
    if (header.type().empty()) std::abort();
  } catch (const fast::DataError&) {
    return 0;
  }
  return 0;
}
