#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "fast/data/images.h"

namespace fast {

/// CIFAR-10's binary format (see cifar_records.h): one label a record, 0..9.
inline constexpr ImageShape kCifar10Shape{3, 32, 32, 10};
inline constexpr std::size_t kCifar10Record = 3073;

/// Appends the records in `bytes` to `out` (of kCifar10Shape). Pure; throws DataError, naming
/// `file`, for half a record, no record, or a label out of range; `out` is then unchanged.
void append_cifar10(std::span<const std::uint8_t> bytes, const std::string& file, ImageSet& out);

/// Reads data_batch_1.bin, _2, ... (up to 5, as many as are there without a gap) and test_batch.bin
/// from `directory` or its folder cifar-10-batches-bin. Throws DataError.
[[nodiscard]] ImageDataset load_cifar10(const std::filesystem::path& directory,
                                        const ChooseExamples& choose = {});

/// Reads no data, but requires that the files exist and hold whole records by their sizes. Throws
/// DataError.
[[nodiscard]] ImageShape cifar10_shape(const std::filesystem::path& directory);

}  // namespace fast
