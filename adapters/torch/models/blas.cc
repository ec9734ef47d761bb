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

bool bears_threads(const std::filesystem::path& library) {
  return library.parent_path().filename() != "openblas-serial";
}

std::string blas_advice(const std::filesystem::path& library) {
  if (!bears_threads(library)) {
    return "LibTorch multiplies matrices by an OpenBLAS (" + library.string() +
           ") whose products may be wrong where two threads ask at once, so that one thread alone "
           "computes: apt-get install libopenblas0-openmp";
  }
  // Debian's libblas3 is .../blas/libblas.so.3.11.0; others are in folders of their own names.
  const bool reference = library.parent_path().filename() == "blas" &&
                         library.filename().string().starts_with("libblas.so");
  if (!reference) return {};
  return "LibTorch multiplies matrices by the reference BLAS (" + library.string() +
         "), which takes up to seven times as long as it need: apt-get install libopenblas0-openmp";
}

}  // namespace fast
