#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fast/data/image_shape.h"

namespace fast {

/// Images and labels, as bytes, NCHW. Usually all of them are in memory; of a set that was loaded
/// for one worker, the images of its shard, or none. Value type; immutable after loading.
struct ImageSet {
  ImageShape shape;
  std::vector<std::uint8_t> pixels{};  ///< of the images in memory, shape.pixels() bytes each
  std::vector<std::uint8_t> labels{};  ///< of all
  /// The images in memory, ascending; empty: all, or none where `read` is set.
  std::vector<std::uint32_t> kept{};
  /// Reads consecutive images from `first` on, as many as `out` has room for, from files; empty:
  /// they are in memory. One thread. Throws DataError.
  std::function<void(std::size_t first, std::span<std::uint8_t> out)> read{};

  [[nodiscard]] std::size_t size() const { return labels.size(); }
  /// Requires that the image is in memory.
  [[nodiscard]] std::span<const std::uint8_t> image(std::size_t i) const;
  /// Keeps the images of these examples, of those that are in memory, and no more.
  void keep(std::vector<std::uint32_t> examples);
  /// Of what it has in memory.
  [[nodiscard]] std::size_t bytes() const;
};

/// Names, given the labels of all training examples, those whose images are needed.
using ChooseExamples =
    std::function<std::vector<std::uint32_t>(std::span<const std::uint8_t> labels)>;

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
///
/// With `choose`, the images of other training examples are not kept, and where the format allows
/// it (CIFAR) they are not read either, and test images stay in their file.
[[nodiscard]] Dataset load_dataset(std::string_view spec, std::uint64_t seed,
                                   const ChooseExamples& choose = {});

/// The spec with an absolute path, a tilde replaced by the home folder, so that it names the same
/// data set in every working folder. Throws ConfigError for an unknown spec.
[[nodiscard]] std::string absolute_dataset(std::string_view spec);

/// Only the shape, without reading the training data (labels and pixels are not checked).
[[nodiscard]] ImageShape dataset_shape(std::string_view spec);

}  // namespace fast
