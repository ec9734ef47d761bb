#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "fast/data/images.h"

namespace fast {

/// IDX, the format of MNIST and its successors (LeCun et al.), all numbers big-endian:
///   images = 00 00 08 03  count (4 bytes)  height (4)  width (4)  byte{count * height * width}
///   labels = 00 00 08 01  count (4 bytes)  byte{count}
inline constexpr std::size_t kIdxImagesHeader = 16;
inline constexpr std::size_t kIdxLabelsHeader = 8;
inline constexpr int kMnistClasses = 10;

struct IdxImagesHeader {
  std::size_t count = 0;
  int height = 0, width = 0;  ///< 1 .. 1024
};

/// The parsers are pure and throw DataError, naming `file`, offset and what was expected. They read
/// plain bytes; `bytes` must be exactly one file (of parse_idx_images_header: at least its start).
[[nodiscard]] IdxImagesHeader parse_idx_images_header(std::span<const std::uint8_t> bytes,
                                                      const std::string& file);
/// Sets the number of classes to kMnistClasses, which the labels may exceed.
void parse_idx_images(std::span<const std::uint8_t> bytes, const std::string& file, ImageSet& out);
void parse_idx_labels(std::span<const std::uint8_t> bytes, const std::string& file, ImageSet& out);

/// Reads train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-.., t10k-labels-.. from
/// `directory`, plain or with .gz, also spelt train-images.idx3-ubyte, or as EMNIST names its own
/// (emnist-balanced-train-images-idx3-ubyte, ..-test-..). There are as many classes as labels, at
/// least kMnistClasses. Throws DataError.
[[nodiscard]] ImageDataset load_mnist(const std::filesystem::path& directory);

/// Reads only the labels and the header of the training images. Throws DataError, also for missing
/// files.
[[nodiscard]] ImageShape mnist_shape(const std::filesystem::path& directory);

}  // namespace fast
