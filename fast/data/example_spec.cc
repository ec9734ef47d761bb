#include "fast/data/example_spec.h"

#include <algorithm>
#include <limits>

#include "fast/errors.h"

namespace fast {
namespace {

ConfigError no_images(const std::string& model, const std::string& why) {
  return {
      "model '" + model + "' is for images with a label each, and " + why,
      "use a model of your own, --model script:FILE, or for numbers one of LibTorch's with --loss "
      "mse, l1 or bce"};
}

}  // namespace

std::size_t ArraySpec::values() const {
  std::size_t count = 1;
  for (const std::int64_t side : shape) count *= static_cast<std::size_t>(side);
  return count;
}

std::size_t ArraySpec::bytes() const {
  return values() * (type == ValueType::kFloat32 ? sizeof(float) : sizeof(std::int64_t));
}

std::string in_words(const ArraySpec& array) {
  std::string text = array.type == ValueType::kFloat32 ? "float32 [" : "int64 [";
  for (const std::int64_t side : array.shape) {
    if (!text.ends_with('[')) text += ", ";
    text += std::to_string(side);
  }
  return text + "]";
}

ExampleSpec::ExampleSpec(const ImageShape& shape)
    : input{ValueType::kFloat32, {shape.channels, shape.height, shape.width}},
      target{ValueType::kInt64, {}},
      classes(shape.classes) {}

ImageShape image_shape(const ExampleSpec& examples, const std::string& model) {
  const std::vector<std::int64_t>& sides = examples.input.shape;
  const auto is_a_side = [](std::int64_t side) {
    return side > 0 && side <= std::numeric_limits<int>::max();
  };
  if (!examples.has_labels()) throw no_images(model, "the targets of this data set are no labels");
  if (examples.input.type != ValueType::kFloat32 || sides.empty() || sides.size() > 3 ||
      !std::ranges::all_of(sides, is_a_side)) {
    throw no_images(model, "an example of this data set is " + in_words(examples.input));
  }
  const auto from_the_end = [&](std::size_t i) {
    return i < sides.size() ? static_cast<int>(sides[sides.size() - 1 - i]) : 1;
  };
  return {from_the_end(2), from_the_end(1), from_the_end(0), examples.classes};
}

}  // namespace fast
