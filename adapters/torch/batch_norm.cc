#include "adapters/torch/batch_norm.h"

#include <torch/utils.h>

namespace fast {

template <typename Norm>
void BatchNormStatistics::add(const std::shared_ptr<torch::nn::Module>& module) {
  const auto norm = std::dynamic_pointer_cast<Norm>(module);
  if (norm == nullptr || !norm->options.track_running_stats()) return;
  layers_.push_back({.options = &norm->options, .reset = [norm] { norm->reset_running_stats(); }});
}

BatchNormStatistics::BatchNormStatistics(torch::nn::Module& model) {
  for (const auto& module : model.modules(/*include_self=*/false)) {
    add<torch::nn::BatchNorm1dImpl>(module);
    add<torch::nn::BatchNorm2dImpl>(module);
    add<torch::nn::BatchNorm3dImpl>(module);
  }
}

// BatchNorm averages cumulatively while its momentum is unset.
void BatchNormStatistics::begin() {
  const torch::NoGradGuard no_grad;
  end();
  gathering_ = true;
  for (Layer& layer : layers_) {
    layer.before = layer.options->momentum();
    layer.options->momentum(Momentum{});
    layer.reset();
  }
}

void BatchNormStatistics::end() {
  if (!std::exchange(gathering_, false)) return;
  for (Layer& layer : layers_) layer.options->momentum(layer.before);
}

}  // namespace fast
