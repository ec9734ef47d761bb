#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "fast/adapter.h"
#include "fast/run/safetensors.h"

namespace fast {

/// Gives a model the weights, buffers and counters of saved tensors, whose names, types and shapes
/// have to be the same. Throws FileError, naming `whose` they are and the tensor, and with that
/// remedy, where they are not; nothing has been changed then.
void load_state(std::span<const TensorView> from, ModelAdapter& model, const std::string& whose,
                const std::string& remedy);

/// The same from a file, such as mean.safetensors.
void begin_from(const std::filesystem::path& file, ModelAdapter& adapter);

/// Takes from the file what fits by name, type and shape, and leaves the rest as it is. Returns a
/// line for people: what fitted, what did not, and what the file has beside it. Throws FileError
/// where nothing fits.
[[nodiscard]] std::string begin_partly_from(const std::filesystem::path& file,
                                            ModelAdapter& adapter);

}  // namespace fast
