#pragma once

#include "fast/train/models.h"

namespace fast {

/// The models of all adapters of this build, LibTorch's before others of the same names. CMake
/// generates it from each adapter's call of fast_models().
[[nodiscard]] Models built_models();

}  // namespace fast
