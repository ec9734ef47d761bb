#pragma once

#include <dlib/cuda/tensor.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "fast/data/image_shape.h"

namespace fast::dlib_nets {

/// dlib's input layer for images of any number of channels, NCHW.
class Images {
 public:
  using input_type = std::span<const float>;  ///< an image's pixels

  Images() = default;
  explicit Images(const ImageShape& shape) : shape_(shape) {}

  template <typename Iterator>
  void to_tensor(Iterator begin, Iterator end, dlib::resizable_tensor& out) const {
    out.set_size(std::distance(begin, end), shape_.channels, shape_.height, shape_.width);
    float* place = out.host();
    for (; begin != end; ++begin) place = std::copy(begin->begin(), begin->end(), place);
  }

 private:
  ImageShape shape_;
};

}  // namespace fast::dlib_nets
