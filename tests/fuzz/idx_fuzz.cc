#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "fast/data/file_bytes.h"
#include "fast/data/mnist.h"
#include "fast/errors.h"

namespace {

constexpr std::size_t kLimit = 1 << 20;

void parse(std::span<const std::uint8_t> bytes) {
  fast::ImageSet set;
  try {
    fast::parse_idx_images(bytes, "fuzz", set);
    if (set.pixels.size() + fast::kIdxImagesHeader != bytes.size()) std::abort();
  } catch (const fast::DataError&) {
    if (!set.pixels.empty()) std::abort();
  }
  try {
    fast::parse_idx_labels(bytes, "fuzz", set);
    if (set.size() + fast::kIdxLabelsHeader != bytes.size()) std::abort();
  } catch (const fast::DataError&) {
    if (set.size() != 0) std::abort();
  }
}

}  // namespace

/// Bytes as an IDX file of either kind, and as a gzip file of one.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  parse({data, size});
  const int descriptor = memfd_create("idx_fuzz", MFD_CLOEXEC);
  if (descriptor < 0 || write(descriptor, data, size) != static_cast<ssize_t>(size)) std::abort();
  const std::string file = "/proc/self/fd/" + std::to_string(descriptor);
  std::vector<std::uint8_t> start, whole;
  try {
    fast::read_data_file(file, "", start, fast::kIdxImagesHeader);
    if (start.size() > fast::kIdxImagesHeader) std::abort();
  } catch (const fast::DataError&) {
  }
  try {
    fast::read_data_file(file, "", whole, kLimit);
    if (whole.size() > kLimit) std::abort();
    parse(whole);
  } catch (const fast::DataError&) {
  }
  close(descriptor);
  return 0;
}
