#include "adapters/torch/models/resnet.h"

#include <torch/nn/functional/padding.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include <string>
#include <vector>

namespace fast {
namespace {

namespace nn = torch::nn;

enum class Shortcut { kPad, kProject };

nn::Conv2d conv(std::int64_t in, std::int64_t out, int size, int stride) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, size).stride(stride).padding(size / 2).bias(false));
}

// conv - norm - relu - conv - norm, added to its input.
class BlockImpl final : public nn::Module {
 public:
  BlockImpl(std::int64_t in, std::int64_t out, int stride, Shortcut shortcut)
      : stride_(stride),
        added_(out - in),
        conv1_(register_module("conv1", conv(in, out, 3, stride))),
        bn1_(register_module("bn1", nn::BatchNorm2d(out))),
        conv2_(register_module("conv2", conv(out, out, 3, 1))),
        bn2_(register_module("bn2", nn::BatchNorm2d(out))) {
    if (shortcut == Shortcut::kProject && (stride != 1 || added_ != 0)) {
      project_ = register_module("downsample",
                                 nn::Sequential(conv(in, out, 1, stride), nn::BatchNorm2d(out)));
    }
  }

  torch::Tensor forward(const torch::Tensor& input) {
    auto x = bn1_(conv1_(input)).relu_();
    x = bn2_(conv2_(x));
    return x.add_(shortcut(input)).relu_();
  }

 private:
  torch::Tensor shortcut(const torch::Tensor& input) {
    if (!project_.is_empty()) return project_->forward(input);
    if (stride_ == 1 && added_ == 0) return input;
    // Option A: every stride-th pixel, the new channels zero.
    using torch::indexing::None;
    using torch::indexing::Slice;
    const auto kept =
        input.index({Slice(), Slice(), Slice(None, None, stride_), Slice(None, None, stride_)});
    return torch::constant_pad_nd(kept, {0, 0, 0, 0, added_ / 2, added_ - added_ / 2});
  }

  int stride_;
  std::int64_t added_;
  nn::Conv2d conv1_;
  nn::BatchNorm2d bn1_;
  nn::Conv2d conv2_;
  nn::BatchNorm2d bn2_;
  nn::Sequential project_{nullptr};
};
TORCH_MODULE(Block);

// Names follow torchvision (conv1, bn1, layerS.B.*, fc), so that its tools read the saved files.
class ResNet final : public Model {
 public:
  ResNet(const ImageShape& shape, const std::vector<std::int64_t>& widths, int blocks,
         Shortcut shortcut)
      : conv1_(register_module("conv1", conv(shape.channels, widths.front(), 3, 1))),
        bn1_(register_module("bn1", nn::BatchNorm2d(widths.front()))) {
    auto in = widths.front();
    for (std::size_t stage = 0; stage < widths.size(); ++stage) {
      nn::Sequential layer;
      for (int b = 0; b < blocks; ++b) {
        blocks_.emplace_back(in, widths[stage], stage > 0 && b == 0 ? 2 : 1, shortcut);
        layer->push_back(blocks_.back());
        in = widths[stage];
      }
      register_module("layer" + std::to_string(stage + 1), layer);
    }
    fc_ = register_module("fc", nn::Linear(in, shape.classes));
  }

  torch::Tensor forward(torch::Tensor images) override {
    auto x = use(conv1_)(images);
    x = use(bn1_)(x).relu_();
    for (Block& block : blocks_) x = use(block)->forward(x);
    return use(fc_)(x.mean({2, 3}));
  }

 private:
  nn::Conv2d conv1_;
  nn::BatchNorm2d bn1_;
  std::vector<Block> blocks_;  ///< of all stages
  nn::Linear fc_{nullptr};
};

}  // namespace

std::shared_ptr<Model> make_cifar_resnet(const ImageShape& shape, int n) {
  return std::make_shared<ResNet>(shape, std::vector<std::int64_t>{16, 32, 64}, n, Shortcut::kPad);
}

std::shared_ptr<Model> make_resnet18(const ImageShape& shape) {
  return std::make_shared<ResNet>(shape, std::vector<std::int64_t>{64, 128, 256, 512}, 2,
                                  Shortcut::kProject);
}

}  // namespace fast
