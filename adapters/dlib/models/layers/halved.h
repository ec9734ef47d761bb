#pragma once

#include <dlib/dnn/core.h>
#include <dlib/dnn/layers.h>

#include <algorithm>
#include <cstddef>

namespace fast::dlib_nets {

/// The shortcut without parameters of He et al. 2015 (option A): every second pixel of every second
/// row, and twice the channels, of which a quarter before and a quarter behind are zero.
class HalvedLayer {
 public:
  template <typename Below>
  void setup(const Below&) {}

  template <typename Below>
  void forward(const Below& below, dlib::resizable_tensor& out) {
    const dlib::tensor& in = below.get_output();
    out.set_size(in.num_samples(), 2 * in.k(), (in.nr() + 1) / 2, (in.nc() + 1) / 2);
    out = 0;
    const float* const from = in.host();
    float* const to = out.host();
    each(in, out, [&](std::size_t pixel, std::size_t place) { to[place] = from[pixel]; });
  }

  template <typename Below>
  void backward(const dlib::tensor& slope, Below& below, dlib::tensor&) {
    dlib::tensor& in = below.get_gradient_input();
    const float* const from = slope.host();
    float* const to = in.host();
    each(in, slope, [&](std::size_t pixel, std::size_t place) { to[pixel] += from[place]; });
  }

  const dlib::tensor& get_layer_params() const { return none_; }
  dlib::tensor& get_layer_params() { return none_; }

 private:
  /// Calls `visit` with the indices of each kept pixel in the large and in the small tensor.
  template <typename Visit>
  static void each(const dlib::tensor& large, const dlib::tensor& small, Visit visit) {
    const auto images = static_cast<std::size_t>(large.num_samples()),
               channels = static_cast<std::size_t>(large.k()),
               rows = static_cast<std::size_t>(small.nr()),
               columns = static_cast<std::size_t>(small.nc()),
               wide = static_cast<std::size_t>(large.nc()),
               plane = static_cast<std::size_t>(large.nr()) * wide;
    for (std::size_t i = 0; i < images * channels; ++i) {
      const std::size_t before = i / channels * 2 * channels + channels / 2 + i % channels;
      for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t c = 0; c < columns; ++c) {
          visit(i * plane + 2 * r * wide + 2 * c, (before * rows + r) * columns + c);
        }
      }
    }
  }

  dlib::resizable_tensor none_;
};

template <typename Below>
using halved = dlib::add_layer<HalvedLayer, Below>;

}  // namespace fast::dlib_nets
