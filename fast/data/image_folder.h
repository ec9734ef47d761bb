#pragma once

#include <string_view>

#include "fast/data/example_spec.h"
#include "fast/data/images.h"

namespace fast {

/// Pictures in folders, one for each class: "DIR[,SIZE][,grey][,test=SHARE]". Below DIR are train/
/// and test/ with the same classes, or the classes themselves: of these, each picture whose name
/// falls into SHARE (0.1) by its hash is for testing, the same at every worker and in every run.
/// Classes are numbered in the order of their names. PNG and JPEG by their endings; other files are
/// passed over. A picture is [3, SIZE, SIZE], or [1, SIZE, SIZE] of grey, resized without regard to
/// its proportions; without SIZE all have to be of the size of the first.
///
/// Only names are held in memory. A picture is read and decoded when it is asked for, by two
/// threads ahead of need where the loader says what comes next. Random crops and mirrors as for
/// CIFAR. Throws ConfigError for arguments that are none, and DataError, naming the folder or file,
/// where there are no pictures, a class lacks any or is of the test set alone, and for pictures
/// that cannot be decoded, or are of another size.
[[nodiscard]] ImageDataset load_image_folder(std::string_view arguments);
[[nodiscard]] ExampleSpec image_folder_spec(std::string_view arguments);

}  // namespace fast
