#include "fast/train/initial_model.h"

#include <algorithm>
#include <string>

#include "fast/errors.h"
#include "fast/run/safetensors.h"

namespace fast {

void begin_from(const std::filesystem::path& file, ModelAdapter& adapter) {
  const SafetensorsFile saved = SafetensorsFile::open(file);
  const auto refused = [&](const std::string& why) {
    return FileError(file.string() + " is of another model: " + why,
                     "give one of the same names and shapes with --init");
  };
  const std::vector<NamedTensor> wanted = adapter.state();
  for (const NamedTensor& tensor : wanted) {
    const TensorView* const found = saved.find(tensor.name);
    if (found == nullptr) throw refused("it has no tensor '" + tensor.name + "'");
    if (found->dtype != tensor.dtype || found->shape != tensor.shape ||
        found->bytes.size() != tensor.bytes.size()) {
      throw refused("tensor '" + tensor.name + "' has another type or shape there");
    }
  }
  for (const TensorView& tensor : saved.tensors()) {
    const bool known = std::ranges::any_of(
        wanted, [&](const NamedTensor& other) { return other.name == tensor.name; });
    if (!known) throw refused("its tensor '" + tensor.name + "' is none of this one");
  }
  for (const NamedTensor& tensor : wanted) {
    const auto& bytes = saved.find(tensor.name)->bytes;
    std::copy(bytes.begin(), bytes.end(), tensor.bytes.begin());
  }
}

}  // namespace fast
