#pragma once

#include <cstddef>

namespace fast {

/// The shape of a data set's examples, as a model needs it.
struct ImageShape {
  int channels = 0, height = 0, width = 0, classes = 0;
  [[nodiscard]] std::size_t pixels() const {
    return static_cast<std::size_t>(channels) * height * width;
  }
};

}  // namespace fast
