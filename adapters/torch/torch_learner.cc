#include "adapters/torch/torch_learner.h"

#include <ATen/Parallel.h>
#include <malloc.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <cmath>
#include <type_traits>
#include <utility>

#include "adapters/torch/models/models.h"
#include "adapters/torch/momentum_correction.h"
#include "adapters/torch/step_in_backward.h"
#include "adapters/torch/torch_adapter.h"
#include "fast/errors.h"

namespace fast {
namespace {

namespace optim = torch::optim;

// An optional<double>, of whichever kind this LibTorch has.
using Momentum = std::decay_t<decltype(std::declval<torch::nn::BatchNormOptions>().momentum())>;

std::unique_ptr<optim::Optimizer> make_optimizer(const OptimizerOptions& options,
                                                 std::vector<torch::Tensor> parameters) {
  if (options.name == "sgd") {
    return std::make_unique<optim::SGD>(std::move(parameters),
                                        optim::SGDOptions(options.learning_rate)
                                            .momentum(options.momentum)
                                            .nesterov(options.nesterov && options.momentum > 0)
                                            .weight_decay(options.weight_decay));
  }
  if (options.name == "adamw") {
    return std::make_unique<optim::AdamW>(
        std::move(parameters),
        optim::AdamWOptions(options.learning_rate).weight_decay(options.weight_decay));
  }
  throw ConfigError("unknown optimizer '" + options.name + "'", "use sgd or adamw");
}

// A step allocates and frees the same few MiB again and again; by default glibc hands them back to
// the kernel each time, and clearing fresh pages then costs a quarter of a resnet8 step.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest that glibc takes
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 16 << 20);
#endif
}

void set_threads(int threads) {
  at::set_num_threads(threads);
  if (at::get_num_interop_threads() == 1) return;
  try {
    at::set_num_interop_threads(1);
  } catch (const c10::Error&) {
    // LibTorch allows this once a process, before its first parallel work. Nothing here runs
    // operations side by side, so a pool that exists already stays idle.
  }
}

std::size_t count_correct(const torch::Tensor& logits, std::span<const std::int64_t> labels) {
  const auto best = logits.argmax(1);
  const auto* chosen = best.data_ptr<std::int64_t>();
  std::size_t correct = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) correct += chosen[i] == labels[i] ? 1 : 0;
  return correct;
}

// Views of the batch's memory; LibTorch has no tensors of constant data, and the models only read.
torch::Tensor images(const Batch& batch, const ImageShape& shape) {
  return torch::from_blob(
      const_cast<float*>(batch.images.data()),
      {static_cast<std::int64_t>(batch.labels.size()), shape.channels, shape.height, shape.width});
}

torch::Tensor labels(const Batch& batch) {
  return torch::from_blob(const_cast<std::int64_t*>(batch.labels.data()),
                          {static_cast<std::int64_t>(batch.labels.size())}, torch::kInt64);
}

}  // namespace

TorchLearner::TorchLearner(const LearnerOptions& options, stencil::LogSink log)
    : TorchLearner(make_model(options.model, options.shape, options.seed), options,
                   std::move(log)) {}

TorchLearner::TorchLearner(std::shared_ptr<Model> model, const LearnerOptions& options,
                           stencil::LogSink log)
    : shape_(options.shape),
      model_(std::move(model)),
      adapter_(std::make_unique<TorchAdapter>(
          *model_,
          TorchAdapterOptions{.mix_buffers = options.mix_buffers, .log = std::move(log)})) {
  StepInBackward::Parts parts = {model_->parameters()};
  if (options.overlap) parts = StepInBackward::parts(model_->parameters());
  for (auto& part : parts) {
    const OptimizerOptions& wish = options.optimizer;
    Part made{make_optimizer(wish, part), nullptr};
    auto* const sgd = dynamic_cast<optim::SGD*>(made.optimizer.get());
    if (sgd && wish.momentum > 0 && wish.momentum_correction > 0) {
      made.correction = std::make_unique<MomentumCorrection>(*sgd, wish.momentum_correction);
    }
    parts_.push_back(std::move(made));
  }
  if (options.overlap) {
    overlap_ = std::make_unique<StepInBackward>(*adapter_, parts,
                                                [this](std::size_t i) { parts_[i].step(); });
  }
  keep_freed_memory();
  set_threads(options.threads);
  for (const auto& module : model_->modules()) {
    if (auto* norm = module->as<torch::nn::BatchNorm2dImpl>()) norms_.push_back(norm);
  }
  if (norms_.empty()) return;
  statistics_ = options.mix_buffers ? Statistics::kExchanged : Statistics::kLocal;
  if (!options.mix_buffers) return;
  for (auto* norm : norms_) norm->options.momentum(0.0);
}

TorchLearner::~TorchLearner() = default;

ModelAdapter& TorchLearner::adapter() {
  return *adapter_;
}

void TorchLearner::set_learning_rate(double rate) {
  for (Part& part : parts_) {
    for (auto& group : part.optimizer->param_groups()) group.options().set_lr(rate);
  }
}

StepResult TorchLearner::train_step(const Batch& batch) {
  clear_gradients();
  if (overlap_) overlap_->begin();
  const StepResult result = backward(batch);
  const bool made = std::isfinite(result.loss);
  if (overlap_) {
    made ? overlap_->finish() : overlap_->abandon();
  } else if (made) {
    update();
  }
  return result;
}

void TorchLearner::clear_gradients() {
  for (Part& part : parts_) part.optimizer->zero_grad();
}

StepResult TorchLearner::backward(const Batch& batch) {
  leave_statistics();
  set_training(true);
  const auto logits = model_->forward(images(batch, shape_));
  const auto loss = torch::nn::functional::cross_entropy(logits, labels(batch));
  StepResult result{loss.item<double>(), count_correct(logits, batch.labels)};
  if (std::isfinite(result.loss)) loss.backward();
  return result;
}

void TorchLearner::Part::step() {
  if (correction) correction->before_step();
  optimizer->step();
  if (correction) correction->after_step();
}

void TorchLearner::update() {
  for (Part& part : parts_) part.step();
}

StepResult TorchLearner::evaluate(const Batch& batch) {
  leave_statistics();
  set_training(false);
  torch::NoGradGuard no_grad;
  const auto logits = model_->forward(images(batch, shape_));
  const auto loss = torch::nn::functional::cross_entropy(logits, labels(batch));
  return {loss.item<double>(), count_correct(logits, batch.labels)};
}

// BatchNorm averages cumulatively while its momentum is unset.
void TorchLearner::begin_statistics() {
  leave_statistics();
  for (auto* norm : norms_) {
    momenta_.push_back(norm->options.momentum().value());
    norm->options.momentum(Momentum{});
    norm->reset_running_stats();
  }
}

void TorchLearner::accumulate_statistics(const Batch& batch) {
  set_training(true);
  torch::NoGradGuard no_grad;
  model_->forward(images(batch, shape_));
}

void TorchLearner::leave_statistics() {
  for (std::size_t i = 0; i < momenta_.size(); ++i) norms_[i]->options.momentum(momenta_[i]);
  momenta_.clear();
}

void TorchLearner::set_training(bool training) {
  if (model_->is_training() != training) model_->train(training);
}

std::vector<ModelKind> torch_models() {
  std::vector<ModelKind> kinds;
  for (const std::string_view name : torch_model_names()) {
    kinds.push_back({name, [](const LearnerOptions& options) {
                       return std::make_unique<TorchLearner>(options);
                     }});
  }
  return kinds;
}

}  // namespace fast
