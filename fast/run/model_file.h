#pragma once

#include <filesystem>

#include "fast/adapter.h"
#include "fast/run/safetensors.h"

namespace fast {

/// Saves the present model with `metadata`, to which it adds the names of the tensors that are
/// exchanged and carried (kExchangedKey, kCarriedKey), and that PyTorch can load them. `room`: see
/// AtomicFile. Throws FileError, AdapterError.
void save_model(const std::filesystem::path& file, ModelAdapter& adapter,
                SafetensorsMetadata metadata, const std::filesystem::path& room = {});

}  // namespace fast
