#include "adapters/dlib/models/layers/images.h"
#include "adapters/dlib/models/layers/linear.h"
#include "adapters/dlib/models/net.h"

namespace fast::dlib_nets {

using Mlp = linear<dlib::relu<linear<dlib::relu<linear<Images>>>>>;

NamedNet make_mlp(const ImageShape& shape) {
  Mlp network{LinearLayer(shape.classes), dlib::relu_(), LinearLayer(128), dlib::relu_(),
              LinearLayer(256),           Images(shape)};
  return {std::make_unique<NetOf<Mlp>>(std::move(network), shape), {"hidden1", "hidden2", "fc"}};
}

}  // namespace fast::dlib_nets
