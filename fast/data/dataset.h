#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fast/data/example_set.h"
#include "fast/data/example_spec.h"
#include "fast/data/images.h"

namespace fast {

/// A training and a test set. Value type; copies share the examples, which are immutable.
struct Dataset {
  Dataset() = default;
  Dataset(ImageDataset images);  // NOLINT(google-explicit-constructor)

  std::string name;  ///< the spec that it was loaded from
  ExampleSpec spec;
  std::shared_ptr<const ExampleSet> train, test;
};

/// "synthetic", "cifar10:", ..: how specs begin.
[[nodiscard]] std::vector<std::string> dataset_choices();

/// The names before the colon: "synthetic", "cifar10" ..
[[nodiscard]] std::vector<std::string_view> dataset_names();

/// The specs that load_dataset() takes, for help texts and messages.
[[nodiscard]] std::string dataset_forms();

/// "synthetic[:TRAIN[,TEST]]" (generated from `seed`; default 8192,2048), "cifar10:DIR" (binary
/// format), "cifar100:DIR" (binary format), "mnist:DIR" (IDX, plain or .gz), "npy:DIR" (arrays of
/// any shape, see npy.h), "text:FILE.." (see text.h). A DIR or FILE may begin with a tilde.
/// Throws ConfigError for an unknown spec and DataError for files that are missing, truncated or
/// hold labels out of range.
///
/// With `choose`, the images of other training examples are not kept, and where the format allows
/// it (CIFAR) they are not read either, and test images stay in their file. Arrays stay in their
/// files anyway.
[[nodiscard]] Dataset load_dataset(std::string_view spec, std::uint64_t seed,
                                   const ChooseExamples& choose = {});

/// The same of images as bytes. Throws ConfigError, too, for a spec of anything else.
[[nodiscard]] ImageDataset load_images(std::string_view spec, std::uint64_t seed,
                                       const ChooseExamples& choose = {});

/// The spec with an absolute path, a tilde replaced by the home folder, so that it names the same
/// data set in every working folder. Throws ConfigError for an unknown spec.
[[nodiscard]] std::string absolute_dataset(std::string_view spec);

/// What its examples are, without reading inputs (values are not checked).
[[nodiscard]] ExampleSpec dataset_spec(std::string_view spec);

}  // namespace fast
