#include "fast/run/model_file.h"

#include <nlohmann/json.hpp>
#include <vector>

namespace fast {

void save_model(const std::filesystem::path& file, ModelAdapter& adapter,
                SafetensorsMetadata metadata, const std::filesystem::path& room) {
  std::vector<NamedTensor> arrays = adapter.state();
  std::erase_if(arrays, [](const NamedTensor& a) { return a.name.starts_with(kStatePrefix); });
  nlohmann::json exchanged = nlohmann::json::array(), carried = nlohmann::json::array();
  for (const NamedTensor& array : arrays) {
    if (array.role == Role::kTrained && !array.alias) exchanged.push_back(array.name);
    if (array.role == Role::kCarried) carried.push_back(array.name);
  }
  metadata[kExchangedKey] = exchanged.dump();
  if (!carried.empty()) metadata[kCarriedKey] = carried.dump();
  metadata["format"] = "pt";  // as Hugging Face's from_pretrained() asks
  save_safetensors(file, arrays, metadata, {}, room);
}

}  // namespace fast
