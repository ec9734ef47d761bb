#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "fast/checkpoint/checkpoint.h"
#include "fast/data/dataset.h"
#include "fast/data/loader.h"
#include "fast/errors.h"

namespace {

/// A reader either gets the tensor's bytes or a FileError.
template <typename T>
void read_all(const fast::StateReader& state, const std::string& name, std::size_t bytes) {
  try {
    if (state.values<T>(name).size() * sizeof(T) != bytes) std::abort();
  } catch (const fast::FileError&) {
  }
}

/// A loader either resumes from the state or rejects it.
void resume_loader(const fast::StateReader& state) {
  fast::ImageDataset data;
  data.train.shape = {.channels = 1, .height = 1, .width = 1, .classes = 2};
  data.train.pixels = {0, 1, 1};
  data.train.labels = {0, 1, 1};
  data.deviation = {1, 1, 1, 1};
  fast::TrainLoader loader(data, {0, 1, 2}, 4, 1);
  try {
    (void)loader.resume({.order = state.values<std::uint32_t>("loader/order"),
                         .position = state.value<std::uint64_t>("loader/position"),
                         .random = state.value<std::uint64_t>("loader/random")});
  } catch (const fast::FileError&) {
  }
  (void)loader.next_plain();
}

}  // namespace

// An untrusted checkpoint is refused with a FileError, or all of it can be read. The state is also
// read where the checksum is wrong, since no mutation by a fuzzer makes it right.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(data), size);
  try {
    (void)fast::parse_checkpoint(file, "fuzz");
  } catch (const fast::FileError&) {
  }
  try {
    const fast::SafetensorsContent content = fast::parse_safetensors(file, "fuzz");
    const fast::StateReader state(content.tensors, "fuzz");
    for (const fast::TensorView& tensor : content.tensors) {
      if (!state.has(tensor.name)) std::abort();
      read_all<double>(state, tensor.name, tensor.bytes.size());
      read_all<std::uint32_t>(state, tensor.name, tensor.bytes.size());
      read_all<std::uint8_t>(state, tensor.name, tensor.bytes.size());
    }
    resume_loader(state);
  } catch (const fast::FileError&) {
  }
  return 0;
}
