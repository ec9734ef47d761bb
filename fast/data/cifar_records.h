#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "fast/data/images.h"

namespace fast {

/// The binary formats of CIFAR (Krizhevsky 2009, https://www.cs.toronto.edu/~kriz/cifar.html):
///   file   = record*
///   record = label{labels} (a byte each; the last one counts)
///            red (32 x 32 bytes, row-major)  green  blue
struct CifarFormat {
  std::size_t labels;
  int classes;
  const char* how_to_get;  ///< the remedy in every DataError

  [[nodiscard]] constexpr ImageShape shape() const { return {3, 32, 32, classes}; }
  [[nodiscard]] constexpr std::size_t record() const { return labels + 3072; }
};

/// Requires whole records, and at least one. Throws DataError.
void check_cifar_size(const CifarFormat& format, std::size_t size, const std::string& file);

/// Appends the records in `bytes` to `out` (of format.shape()). Pure; throws DataError, naming
/// `file`, for half a record, no record, or a label out of range; `out` is then unchanged. The
/// first of them is record `first` of the file.
void append_cifar(const CifarFormat& format, std::span<const std::uint8_t> bytes,
                  const std::string& file, ImageSet& out, std::size_t first = 0);

/// All records of these files, or the labels of all and the images that `choose` names; the others
/// are read past piece by piece. Throws DataError.
[[nodiscard]] ImageSet read_cifar_files(const CifarFormat& format,
                                        const std::vector<std::filesystem::path>& files,
                                        const ChooseExamples& choose = {});
/// The labels of this file, whose images are read when they are needed (ImageSet::read). Throws
/// DataError.
[[nodiscard]] ImageSet leave_cifar_file(const CifarFormat& format,
                                        const std::filesystem::path& file);

}  // namespace fast
