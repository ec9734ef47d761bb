#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fast/data/image_shape.h"

namespace fast {

/// Images and labels in memory, as bytes, NCHW. Value type; immutable after loading.
struct ImageSet {
  ImageShape shape;
  std::vector<std::uint8_t> pixels;  ///< size() * shape.pixels()
  std::vector<std::uint8_t> labels;
  [[nodiscard]] std::size_t size() const { return labels.size(); }
  [[nodiscard]] std::span<const std::uint8_t> image(std::size_t i) const {
    return std::span(pixels).subspan(i * shape.pixels(), shape.pixels());
  }
};

/// A training and a test set, with their usual normalisation and augmentation.
struct Dataset {
  std::string name;  ///< the spec that it was loaded from
  ImageSet train, test;
  std::array<float, 4> mean{}, deviation{};  ///< per channel, of pixels scaled to 0..1
  bool crop_and_flip = false;                ///< random 4-pixel crop and mirror in training
};

/// "synthetic", "cifar10:", ..: how specs begin.
[[nodiscard]] std::vector<std::string> dataset_choices();

/// The names before the colon: "synthetic", "cifar10" ..
[[nodiscard]] std::vector<std::string_view> dataset_names();

/// The specs that load_dataset() takes, for help texts and messages.
[[nodiscard]] std::string dataset_forms();

/// "synthetic[:TRAIN[,TEST]]" (generated from `seed`; default 8192,2048), "cifar10:DIR" (binary
/// format), "cifar100:DIR" (binary format), "mnist:DIR" (IDX, plain or .gz). A DIR may begin with a
/// tilde. Throws ConfigError for an unknown spec and DataError
/// for files that are missing, truncated or hold labels out of range.
[[nodiscard]] Dataset load_dataset(std::string_view spec, std::uint64_t seed);

/// The spec with an absolute path, a tilde replaced by the home folder, so that it names the same
/// data set in every working folder. Throws ConfigError for an unknown spec.
[[nodiscard]] std::string absolute_dataset(std::string_view spec);

/// Only the shape, without reading the training data (labels and pixels are not checked).
[[nodiscard]] ImageShape dataset_shape(std::string_view spec);

}  // namespace fast
