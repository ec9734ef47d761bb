#include "adapters/torch/batch_norm.h"

#include <torch/utils.h>

namespace fast {

template <typename Norm>
void BatchNormStatistics::add(const std::shared_ptr<torch::nn::Module>& module) {
  const auto norm = std::dynamic_pointer_cast<Norm>(module);
  if (norm == nullptr || !norm->options.track_running_stats()) return;
  layers_.push_back({.options = &norm->options,
                     .reset = [norm] { norm->reset_running_stats(); },
                     .values = [norm]() -> std::array<torch::Tensor, 2> {
                       return {norm->running_mean, norm->running_var};
                     }});
}

BatchNormStatistics::BatchNormStatistics(torch::nn::Module& model) {
  for (const auto& module : model.modules(/*include_self=*/false)) {
    add<torch::nn::BatchNorm1dImpl>(module);
    add<torch::nn::BatchNorm2dImpl>(module);
    add<torch::nn::BatchNorm3dImpl>(module);
  }
}

void BatchNormStatistics::freeze() {
  frozen_ = true;
  for (Layer& layer : layers_) layer.options->momentum(0.0);
}

void BatchNormStatistics::train() {
  end();
  if (!frozen_ || exchanged_) return;
  exchanged_ = true;
  note_own();
}

void BatchNormStatistics::replaced() {
  if (exchanged_) note_own();
}

void BatchNormStatistics::note_own() {
  const torch::NoGradGuard no_grad;
  for (Layer& layer : layers_) {
    const auto values = layer.values();
    for (std::size_t i = 0; i < values.size(); ++i) layer.own[i] = values[i].clone();
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
    const auto values = layer.values();
    for (std::size_t i = 0; exchanged_ && i < values.size(); ++i) {
      layer.moved[i] = values[i] - layer.own[i];
    }
    layer.reset();
    for (std::size_t i = 0; exchanged_ && i < values.size(); ++i) {
      layer.own[i].copy_(values[i]);
      values[i].add_(layer.moved[i]);
    }
  }
}

void BatchNormStatistics::gather(const std::function<void()>& forward) {
  const torch::NoGradGuard no_grad;
  for (const Layer& layer : layers_) {
    const auto values = layer.values();
    for (std::size_t i = 0; exchanged_ && i < values.size(); ++i) values[i].copy_(layer.own[i]);
  }
  forward();
  for (Layer& layer : layers_) {
    const auto values = layer.values();
    for (std::size_t i = 0; exchanged_ && i < values.size(); ++i) {
      layer.own[i].copy_(values[i]);
      values[i].add_(layer.moved[i]);
    }
  }
}

void BatchNormStatistics::mend() {
  const torch::NoGradGuard no_grad;
  for (Layer& layer : layers_) {
    if (!exchanged_) return;
    const torch::Tensor variance = layer.values()[1];
    variance.copy_(torch::where(variance > 0, variance, layer.own[1]));
  }
}

void BatchNormStatistics::end() {
  if (!std::exchange(gathering_, false)) return;
  for (Layer& layer : layers_) layer.options->momentum(layer.before);
}

}  // namespace fast
