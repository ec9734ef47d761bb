#include "fast/run/model_file.h"

#include <nlohmann/json.hpp>

namespace fast {

void save_model(const std::filesystem::path& file, ModelAdapter& adapter,
                SafetensorsMetadata metadata, const std::filesystem::path& room) {
  nlohmann::json exchanged = nlohmann::json::array();
  for (const ParameterSlot& slot : adapter.parameters()) exchanged.push_back(slot.name);
  metadata[kExchangedKey] = exchanged.dump();
  save_safetensors(file, adapter.state(), metadata, {}, room);
}

}  // namespace fast
