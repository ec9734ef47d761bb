#pragma once

#include <cstddef>

namespace fast {

/// The examples of a data set, as far as a model must know them.
struct ImageShape {
  int channels = 0, height = 0, width = 0, classes = 0;
  [[nodiscard]] std::size_t pixels() const {
    return static_cast<std::size_t>(channels) * height * width;
  }
};

}  // namespace fast
