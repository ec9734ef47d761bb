#pragma once

#include <filesystem>
#include <string>

namespace fast {

/// The library that LibTorch multiplies matrices with, links resolved; "" where it has its own (as
/// in PyTorch's wheels).
[[nodiscard]] std::filesystem::path blas_in_use();

/// Where that is the reference implementation, which Debian's LibTorch runs on until another is
/// installed and which takes seven times as long: cause and remedy. "" for any other.
[[nodiscard]] std::string blas_advice(const std::filesystem::path& library);

}  // namespace fast
