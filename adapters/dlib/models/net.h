#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "adapters/dlib/dlib_layers.h"
#include "fast/data/image_shape.h"

namespace fast::dlib_nets {

/// A network of dlib's, whose type the rest of the program need not know: images in (NCHW), class
/// scores out. One thread.
class Net {
 public:
  virtual ~Net() = default;
  [[nodiscard]] virtual std::vector<DlibLayer> layers() = 0;
  /// One row of scores for each image. BatchNorm takes the statistics of the batch, of more than
  /// one image, and its running ones for a single image: dlib's rule.
  virtual const dlib::tensor& forward(const dlib::tensor& images) = 0;
  /// The gradient of the scores, to be filled between forward() and backward().
  [[nodiscard]] virtual dlib::tensor& slope() = 0;
  virtual void backward(const dlib::tensor& images) = 0;
};

/// Any type of network whose input layer is Images.
template <typename Type>
class NetOf final : public Net {
 public:
  /// `network` is for images of `shape`, and its layers have no sizes yet.
  NetOf(Type network, const ImageShape& shape) : network_(std::move(network)) {
    const std::vector<float> pixels(shape.pixels());
    const std::span<const float> image(pixels);
    (void)network_(image);
  }

  std::vector<DlibLayer> layers() override { return dlib_layers(network_); }
  const dlib::tensor& forward(const dlib::tensor& images) override {
    return network_.forward(images);
  }
  dlib::tensor& slope() override { return network_.get_gradient_input(); }
  void backward(const dlib::tensor& images) override { network_.back_propagate_error(images); }

 private:
  Type network_;
};

/// A network, and the names of its layers with parameters from the input on.
struct NamedNet {
  std::unique_ptr<Net> net;
  std::vector<std::string> names;
};

/// Two hidden layers of 256 and 128 rectified units: LibTorch's mlp, by names and layout too.
[[nodiscard]] NamedNet make_mlp(const ImageShape& shape);

/// LeNet-5 (LeCun et al. 1998) with rectified units and the largest of each pooled area: two
/// convolutions of 5x5, padded, and three layers of 120, 84 and one unit a class.
[[nodiscard]] NamedNet make_lenet(const ImageShape& shape);

/// The residual network of 8 layers of He et al. 2015, section 4.2: LibTorch's resnet8, by names
/// and layout too.
[[nodiscard]] NamedNet make_resnet8(const ImageShape& shape);

}  // namespace fast::dlib_nets
