#pragma once

#include <filesystem>

#include "fast/adapter.h"
#include "fast/run/safetensors.h"

namespace fast {

/// Saves a model as it is, beside `metadata` with the names of what is exchanged (kExchangedKey).
/// Throws FileError, AdapterError.
void save_model(const std::filesystem::path& file, ModelAdapter& adapter,
                SafetensorsMetadata metadata);

}  // namespace fast
