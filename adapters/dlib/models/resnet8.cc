#include "adapters/dlib/models/layers/convolution.h"
#include "adapters/dlib/models/layers/halved.h"
#include "adapters/dlib/models/layers/images.h"
#include "adapters/dlib/models/layers/linear.h"
#include "adapters/dlib/models/net.h"

namespace fast::dlib_nets {

using dlib::relu;

// BatchNorm follows each, so that none needs a bias.
template <long filters, long stride, typename Below>
using Conv = convolution<filters, 3, stride, false, Below>;

// conv - norm - relu - conv - norm
template <long filters, long stride, typename Below>
using Branch = dlib::bn_con<Conv<filters, 1, relu<dlib::bn_con<Conv<filters, stride, Below>>>>>;

template <long filters, typename Below>
using Block = relu<dlib::add_prev1<Branch<filters, 1, dlib::tag1<Below>>>>;

template <long filters, typename Below>
using HalvingBlock =
    relu<dlib::add_prev2<halved<dlib::skip1<dlib::tag2<Branch<filters, 2, dlib::tag1<Below>>>>>>>;

using ResNet8 = linear<dlib::avg_pool_everything<
    HalvingBlock<64, HalvingBlock<32, Block<16, relu<dlib::bn_con<Conv<16, 1, Images>>>>>>>>;

// LibTorch's epsilon.
struct WithEpsilon {
  void operator()(dlib::bn_<dlib::CONV_MODE>& layer) const {
    layer = dlib::bn_<dlib::CONV_MODE>(layer.get_running_stats_window_size(), 1e-5);
  }
};

NamedNet make_resnet8(const ImageShape& shape) {
  ResNet8 network{LinearLayer(shape.classes)};
  dlib::input_layer(network) = Images(shape);
  dlib::visit_computational_layers(network, WithEpsilon());
  std::vector<std::string> names = {"conv1", "bn1"};
  for (const char* const stage : {"layer1.0.", "layer2.0.", "layer3.0."}) {
    for (const char* const layer : {"conv1", "bn1", "conv2", "bn2"}) {
      names.push_back(std::string(stage) + layer);
    }
  }
  names.emplace_back("fc");
  return {std::make_unique<NetOf<ResNet8>>(std::move(network), shape), std::move(names)};
}

}  // namespace fast::dlib_nets
