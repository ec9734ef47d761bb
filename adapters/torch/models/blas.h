#pragma once

#include <filesystem>
#include <string>

namespace fast {

/// The library that LibTorch multiplies matrices with, links resolved; "" where it has its own (as
/// in PyTorch's wheels).
[[nodiscard]] std::filesystem::path blas_in_use();

/// Whether several threads may multiply at once. By OpenBLAS's build without threads (Debian's
/// libopenblas0-serial, 0.3.21) some of their products are wrong: it shares its buffers without a
/// lock.
[[nodiscard]] bool bears_threads(const std::filesystem::path& library);

/// Where that is one that bears no threads, or the reference implementation, which Debian's
/// LibTorch runs on until another is installed and which takes seven times as long: cause and
/// remedy. "" for any other.
[[nodiscard]] std::string blas_advice(const std::filesystem::path& library);

}  // namespace fast
