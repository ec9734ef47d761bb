#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

namespace fast {

/// The values of one array of several examples, one example after the other, row-major.
using Values = std::variant<std::span<const float>, std::span<const std::int64_t>>;

/// A batch: inputs and targets of `size` examples, as the data set's ExampleSpec says. They point
/// into the loader's buffers and are valid until its next call.
struct Batch {
  Batch() = default;
  Batch(std::size_t examples, Values given, Values wanted)
      : size(examples), inputs(given), targets(wanted) {}
  /// Images and a label each.
  Batch(std::span<const float> images, std::span<const std::int64_t> labels)
      : Batch(labels.size(), images, labels) {}

  std::size_t size = 0;
  Values inputs{}, targets{};

  /// Normalised, NCHW. Requires inputs of numbers.
  [[nodiscard]] std::span<const float> images() const {
    return std::get<std::span<const float>>(inputs);
  }
  /// 0 .. classes-1. Requires targets that are labels.
  [[nodiscard]] std::span<const std::int64_t> labels() const {
    return std::get<std::span<const std::int64_t>>(targets);
  }
};

}  // namespace fast
