#include "adapters/torch/tensor_types.h"

#include <sstream>

#include "fast/errors.h"

namespace fast {

std::string dtype_name(const std::string& name, torch::ScalarType type) {
  switch (type) {
    case torch::kFloat32:
      return "F32";
    case torch::kFloat64:
      return "F64";
    case torch::kFloat16:
      return "F16";
    case torch::kBFloat16:
      return "BF16";
    case torch::kInt64:
      return "I64";
    case torch::kInt32:
      return "I32";
    case torch::kInt16:
      return "I16";
    case torch::kInt8:
      return "I8";
    case torch::kUInt8:
      return "U8";
    case torch::kComplexFloat:
      return "C64";
    case torch::kBool:
      return "BOOL";
    default:
      break;
  }
  std::ostringstream text;
  text << "'" << name << "' is of type " << type << ", which the safetensors format does not have";
  throw AdapterError(text.str(), "keep it as real numbers, e.g. with torch::view_as_real");
}

}  // namespace fast
