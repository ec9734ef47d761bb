#include "adapters/torch/models/blas.h"

#include <dlfcn.h>

namespace fast {

std::filesystem::path blas_in_use() {
  void* const multiply = dlsym(RTLD_DEFAULT, "sgemm_");
  Dl_info found{};
  if (multiply == nullptr || dladdr(multiply, &found) == 0) return {};
  std::error_code code;
  return std::filesystem::canonical(found.dli_fname, code);
}

std::string blas_advice(const std::filesystem::path& library) {
  // Debian's libblas3 is .../blas/libblas.so.3.11.0; others are in folders of their own names.
  const bool reference = library.parent_path().filename() == "blas" &&
                         library.filename().string().starts_with("libblas.so");
  if (!reference) return {};
  return "LibTorch multiplies matrices by the reference BLAS (" + library.string() +
         "), which takes up to seven times as long as it need: apt-get install libopenblas0-serial";
}

}  // namespace fast
