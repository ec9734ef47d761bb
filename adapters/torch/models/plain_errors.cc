#include "adapters/torch/models/plain_errors.h"

#include <stdexcept>

namespace fast {

std::string_view libtorch_remedy(std::string_view line) {
  const auto has = [line](std::string_view part) { return line.find(part) != line.npos; };
  if (has("more than 1 value per channel")) {
    return "BatchNorm has no statistics of one value: use a larger batch or larger images";
  }
  if (has("allocate memory")) {
    return "out of memory: use a smaller batch or model, or raise the limit (ulimit -v, or the "
           "container's)";
  }
  if (has("cpuinfo")) return "LibTorch asks /proc and /sys for the processor: mount them";
  if (has("/dev/urandom"))
    return "LibTorch takes random numbers from it: give the container a /dev";
  return "see whether model and data go together";
}

void throw_plainly(const c10::Error& error) {
  const std::string text = error.what_without_backtrace();
  const std::string line = text.substr(0, text.find('\n'));
  throw std::runtime_error("LibTorch: " + line + "; " + std::string(libtorch_remedy(line)));
}

}  // namespace fast
