#include "adapters/dlib/models/layers/convolution.h"
#include "adapters/dlib/models/layers/images.h"
#include "adapters/dlib/models/layers/linear.h"
#include "adapters/dlib/models/net.h"

namespace fast::dlib_nets {

using dlib::relu;

template <long filters, typename Below>
using Stage = dlib::max_pool<2, 2, 2, 2, relu<convolution<filters, 5, 1, true, Below>>>;
using LeNet = linear<relu<linear<relu<linear<Stage<16, Stage<6, Images>>>>>>>;

NamedNet make_lenet(const ImageShape& shape) {
  LeNet network{LinearLayer(shape.classes), dlib::relu_(), LinearLayer(84), dlib::relu_(),
                LinearLayer(120)};
  dlib::input_layer(network) = Images(shape);
  return {std::make_unique<NetOf<LeNet>>(std::move(network), shape),
          {"conv1", "conv2", "fc1", "fc2", "fc"}};
}

}  // namespace fast::dlib_nets
