#pragma once

#include <filesystem>

#include "fast/adapter.h"

namespace fast {

/// Gives a model the weights, buffers and counters of a saved one, such as mean.safetensors. Names,
/// types and shapes have to be the same. Throws FileError, naming file and tensor, where they are
/// not, and where the file cannot be read.
void begin_from(const std::filesystem::path& file, ModelAdapter& adapter);

}  // namespace fast
