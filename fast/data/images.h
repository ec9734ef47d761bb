#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "fast/data/example_set.h"
#include "fast/data/image_shape.h"

namespace fast {

/// Images and labels, as bytes, NCHW. Usually all of them are in memory; of a set that was loaded
/// for one worker, the images of its shard, or none. Value type; immutable after loading.
struct ImageSet {
  ImageShape shape;
  std::vector<std::uint8_t> pixels{};   ///< of the images in memory, shape.pixels() bytes each
  std::vector<std::uint16_t> labels{};  ///< of all
  /// The images in memory, ascending; empty: all, or none where `read` is set.
  std::vector<std::uint32_t> kept{};
  /// Reads consecutive images from `first` on, as many as `out` has room for, from files; empty:
  /// they are in memory. One thread. Throws DataError.
  std::function<void(std::size_t first, std::span<std::uint8_t> out)> read{};
  /// May be empty: see ExampleSet::expect().
  std::function<void(std::span<const std::uint32_t> next)> expect{};

  [[nodiscard]] std::size_t size() const { return labels.size(); }
  [[nodiscard]] std::vector<std::uint32_t> all_labels() const {
    return {labels.begin(), labels.end()};
  }
  /// Requires that the image is in memory.
  [[nodiscard]] std::span<const std::uint8_t> image(std::size_t i) const;
  /// Keeps the images of these examples, of those that are in memory, and no more.
  void keep(std::vector<std::uint32_t> examples);
  /// Of what it has in memory.
  [[nodiscard]] std::size_t bytes() const;
};

/// Names, given the labels of all training examples, those whose images are needed.
using ChooseExamples =
    std::function<std::vector<std::uint32_t>(std::span<const std::uint32_t> labels)>;

/// How images become what learners get.
struct ImageTreatment {
  std::array<float, 4> mean{}, deviation{};  ///< per channel, of pixels scaled to 0..1
  bool crop_and_flip = false;                ///< random 4-pixel crop and mirror in training
};

/// A training and a test set of images, with their usual treatment.
struct ImageDataset : ImageTreatment {
  ImageSet train, test;
};

/// These images as examples. `images` is shared, and may be changed by nobody from now on.
[[nodiscard]] std::unique_ptr<ExampleSet> examples_of(ImageSet images, ImageTreatment treatment);

}  // namespace fast
