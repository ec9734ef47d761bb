#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fast/data/image_shape.h"

namespace fast {

/// What learners get: numbers, or integers such as labels and tokens.
enum class ValueType : std::uint8_t { kFloat32, kInt64 };

/// Type and shape of one array of an example.
struct ArraySpec {
  ValueType type = ValueType::kFloat32;
  std::vector<std::int64_t> shape{};  ///< of one example; empty: a number each

  /// Of one example.
  [[nodiscard]] std::size_t values() const;
  /// Of one example, as learners get it.
  [[nodiscard]] std::size_t bytes() const;
  bool operator==(const ArraySpec&) const = default;
};

/// "float32 [3, 32, 32]", for people.
[[nodiscard]] std::string in_words(const ArraySpec& array);

/// What the examples of a data set are, as a model needs to know it. Value type.
struct ExampleSpec {
  ExampleSpec() = default;
  /// Images and a label each.
  ExampleSpec(const ImageShape& shape);  // NOLINT(google-explicit-constructor)

  ArraySpec input, target;
  /// Targets are integers from 0 to below; 0: not known, or they are none.
  int classes = 0;
  /// A target is one of the classes.
  [[nodiscard]] bool has_labels() const { return classes > 0 && target.shape.empty(); }
  bool operator==(const ExampleSpec&) const = default;
};

/// The same for a model of images with a label each: [C, H, W] as it is, [H, W] as of one channel,
/// and [F] as one row. Throws ConfigError where they are none; `model` is named in it.
[[nodiscard]] ImageShape image_shape(const ExampleSpec& examples, const std::string& model);

}  // namespace fast
