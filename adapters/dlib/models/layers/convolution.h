#pragma once

#include <dlib/dnn/core.h>
#include <dlib/dnn/layers.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "adapters/dlib/dlib_layers.h"
#include "adapters/dlib/models/blas/multiply.h"

namespace fast::dlib_nets {

/// dlib::con_ of square filters of an odd side, padded by half of it, in half the time: its columns
/// are copied by rows of pixels, where dlib's are pixel by pixel. "weight" [outputs, inputs, side,
/// side], then "bias" [outputs] where it is biased: dlib's layout, and that of LibTorch's Conv2d.
class ConvolutionLayer {
 public:
  static constexpr char kKind[] = "con";

  ConvolutionLayer() = default;
  ConvolutionLayer(long outputs, long side, long stride, bool biased)
      : outputs_(outputs), side_(side), stride_(stride), biased_(biased) {}

  template <typename Below>
  void setup(const Below& below) {
    weight_ = dlib::alias_tensor(outputs_, below.get_output().k(), side_, side_);
    bias_ = dlib::alias_tensor(1, outputs_);  // dlib adds it to each channel
    parameters_.set_size(static_cast<long>(weight_.size()) + (biased_ ? outputs_ : 0));
    parameters_ = 0;
  }

  template <typename Below>
  void forward(const Below& below, dlib::resizable_tensor& out) {
    const dlib::tensor& in = below.get_output();
    out.set_size(in.num_samples(), outputs_, reduced(in.nr()), reduced(in.nc()));
    const Sizes sizes(*this, in);
    columns_.resize(sizes.filter * sizes.pixels);
    const float* from = in.host();
    float* to = out.host();
    const float* const weight = parameters_.host();
    for (long n = 0; n < in.num_samples(); ++n, from += sizes.image, to += sizes.result) {
      gather(in, from);
      blas::multiply(sizes.outputs, sizes.pixels, sizes.filter, 1, {weight, sizes.filter, false},
                     {columns_.data(), sizes.pixels, false}, 0, to, sizes.pixels);
    }
    if (biased_) dlib::tt::add(1, out, 1, bias_(parameters_, weight_.size()));
  }

  template <typename Below>
  void backward(const dlib::tensor& slope, Below& below, dlib::tensor& gradient) {
    const dlib::tensor& in = below.get_output();
    dlib::tensor& in_gradient = below.get_gradient_input();
    const Sizes sizes(*this, in);
    columns_.resize(sizes.filter * sizes.pixels);
    const float* from = in.host();
    const float* slopes = slope.host();
    float* to = in_gradient.host();
    const float* const weight = parameters_.host();
    float* const weight_gradient = gradient.host();
    for (long n = 0; n < in.num_samples(); ++n) {
      gather(in, from);
      blas::multiply(sizes.outputs, sizes.filter, sizes.pixels, 1, {slopes, sizes.pixels, false},
                     {columns_.data(), sizes.pixels, true}, n == 0 ? 0 : 1, weight_gradient,
                     sizes.filter);
      blas::multiply(sizes.filter, sizes.pixels, sizes.outputs, 1, {weight, sizes.filter, true},
                     {slopes, sizes.pixels, false}, 0, columns_.data(), sizes.pixels);
      scatter(in, to);
      from += sizes.image, to += sizes.image, slopes += sizes.result;
    }
    if (!biased_) return;
    auto bias_gradient = bias_(gradient, weight_.size());
    dlib::tt::assign_conv_bias_gradient(bias_gradient, slope);
  }

  const dlib::tensor& get_layer_params() const { return parameters_; }
  dlib::tensor& get_layer_params() { return parameters_; }

  [[nodiscard]] std::vector<DlibPart> parts() const {
    std::vector<DlibPart> parts = {{"weight", {outputs_, weight_.k(), side_, side_}}};
    if (biased_) parts.push_back({"bias", {outputs_}});
    return parts;
  }

 private:
  /// In floats.
  struct Sizes {
    Sizes(const ConvolutionLayer& layer, const dlib::tensor& in)
        : outputs(static_cast<std::size_t>(layer.outputs_)),
          filter(static_cast<std::size_t>(in.k() * layer.side_ * layer.side_)),
          pixels(static_cast<std::size_t>(layer.reduced(in.nr()) * layer.reduced(in.nc()))),
          image(static_cast<std::size_t>(in.k() * in.nr() * in.nc())),
          result(outputs * pixels) {}
    std::size_t outputs, filter, pixels, image, result;
  };

  [[nodiscard]] long reduced(long extent) const { return (extent - 1) / stride_ + 1; }

  /// Calls `visit(row of pixels or null, first, last, row of columns, length)` for each row of
  /// columns: the pixels for [first, last) are those from the first pointer on, `stride_` apart,
  /// and the others are outside of the image.
  template <typename Pixel, typename Visit>
  void each_row(const dlib::tensor& in, Pixel* image, Visit visit) {
    const long height = in.nr(), width = in.nc(), rows = reduced(height), length = reduced(width);
    float* place = columns_.data();
    for (long c = 0; c < in.k(); ++c, image += height * width) {
      for (long y = -(side_ / 2); y <= side_ / 2; ++y) {
        for (long x = -(side_ / 2); x <= side_ / 2; ++x) {
          const long first = x < 0 ? (-x + stride_ - 1) / stride_ : 0;
          const long last = std::min(length, (width - 1 - x) / stride_ + 1);
          for (long r = 0; r < rows; ++r, place += length) {
            const long row = r * stride_ + y;
            const bool inside = row >= 0 && row < height && first < last;
            visit(inside ? image + row * width + first * stride_ + x : nullptr, first, last, place,
                  length);
          }
        }
      }
    }
  }

  void gather(const dlib::tensor& in, const float* image) {
    each_row(in, image,
             [this](const float* pixel, long first, long last, float* place, long length) {
               if (pixel == nullptr) {
                 std::fill_n(place, length, 0.0F);
                 return;
               }
               std::fill_n(place, first, 0.0F);
               if (stride_ == 1) {
                 std::copy_n(pixel, last - first, place + first);
               } else {
                 for (long i = first; i < last; ++i, pixel += stride_) place[i] = *pixel;
               }
               std::fill_n(place + last, length - last, 0.0F);
             });
  }

  void scatter(const dlib::tensor& in, float* image) {
    each_row(in, image, [this](float* pixel, long first, long last, const float* place, long) {
      if (pixel == nullptr) return;
      if (stride_ == 1) {
        for (long i = first; i < last; ++i) pixel[i - first] += place[i];
      } else {
        for (long i = first; i < last; ++i, pixel += stride_) *pixel += place[i];
      }
    });
  }

  long outputs_ = 1, side_ = 1, stride_ = 1;
  bool biased_ = false;
  dlib::resizable_tensor parameters_;
  dlib::alias_tensor weight_, bias_;
  std::vector<float> columns_;  ///< of one image, a row for each weight of a filter
};

template <long outputs, long side, long stride, bool biased>
class Convolution : public ConvolutionLayer {
 public:
  Convolution() : ConvolutionLayer(outputs, side, stride, biased) {}
};

template <long outputs, long side, long stride, bool biased, typename Below>
using convolution = dlib::add_layer<Convolution<outputs, side, stride, biased>, Below>;

}  // namespace fast::dlib_nets
