#pragma once

#include <filesystem>
#include <string_view>

#include "fast/adapter.h"
#include "fast/run/safetensors.h"

namespace fast {

/// Arrays whose names begin so are an optimizer's, exchanged with the model and in checkpoints, and
/// no part of a model file.
inline constexpr std::string_view kStatePrefix = "state/";

/// Saves the present model with `metadata`, to which it adds the names of the tensors that are
/// exchanged and carried (kExchangedKey, kCarriedKey), and that PyTorch can load them. `room`: see
/// AtomicFile. Throws FileError, AdapterError.
void save_model(const std::filesystem::path& file, ModelAdapter& adapter,
                SafetensorsMetadata metadata, const std::filesystem::path& room = {});

}  // namespace fast
