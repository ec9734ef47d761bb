#pragma once

#include <filesystem>

#include "fast/data/dataset.h"

namespace fast {

/// Arrays of one's own, as NumPy saves them: `directory` holds train-x.npy, train-y.npy, test-x.npy
/// and test-y.npy, whose first axis are examples. Inputs stay in their files, and what a batch
/// needs is read from there.
///
/// Inputs: numbers of any width come as float32, integers as int64 (tokens), and bytes (uint8), as
/// of images, as float32 from 0 to 1. Targets: one integer each is a label from 0 on, and the
/// largest of both files says how many classes there are; other integers come as int64, numbers as
/// float32.
///
/// Throws DataError, naming file and place, for what is missing, damaged, in Fortran order,
/// big-endian or does not fit the other files, and for labels below 0.
[[nodiscard]] Dataset load_npy(const std::filesystem::path& directory);

/// The same without keeping what was read.
[[nodiscard]] ExampleSpec npy_spec(const std::filesystem::path& directory);

}  // namespace fast
