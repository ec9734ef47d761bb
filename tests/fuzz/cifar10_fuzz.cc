#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "fast/data/cifar10.h"
#include "fast/errors.h"

/// Bytes are whole records, or a DataError that leaves the set unchanged.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fast::ImageSet set;
  set.shape = fast::kCifar10Shape;
  try {
    fast::append_cifar10(std::span(data, size), "fuzz", set);
    if (set.size() * fast::kCifar10Record != size) std::abort();
    for (const auto label : set.labels) {
      if (label >= set.shape.classes) std::abort();
    }
  } catch (const fast::DataError&) {
    if (set.size() != 0 || !set.pixels.empty()) std::abort();
  }
  return 0;
}
