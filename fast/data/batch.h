#pragma once

#include <cstdint>
#include <span>

namespace fast {

/// A batch of images, normalised, NCHW, row-major. The spans point into the loader's buffers and
/// are valid until its next call.
struct Batch {
  std::span<const float> images;         ///< size = labels.size() * channels * height * width
  std::span<const std::int64_t> labels;  ///< 0 .. classes-1
};

}  // namespace fast
