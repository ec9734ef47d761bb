#pragma once

#include <filesystem>

#include "fast/data/images.h"

namespace fast {

/// CIFAR-100's binary format (see cifar_records.h): two labels a record, the coarse one (0..19) and
/// the fine one (0..99), which counts. Reads train.bin and test.bin from `directory` or its folder
/// cifar-100-binary. Throws DataError.
[[nodiscard]] ImageDataset load_cifar100(const std::filesystem::path& directory,
                                         const ChooseExamples& choose = {});

/// Reads no data, but requires that the files exist and hold whole records by their sizes. Throws
/// DataError.
[[nodiscard]] ImageShape cifar100_shape(const std::filesystem::path& directory);

}  // namespace fast
