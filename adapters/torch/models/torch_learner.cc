#include "adapters/torch/models/torch_learner.h"

#include <ATen/Parallel.h>
#include <malloc.h>
#include <torch/nn/functional/loss.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "adapters/torch/models/blas.h"
#include "adapters/torch/models/model.h"
#include "adapters/torch/models/models.h"
#include "adapters/torch/models/plain_errors.h"
#include "adapters/torch/torch_trainer.h"
#include "fast/errors.h"

namespace fast {
namespace {

namespace optim = torch::optim;

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

// A step allocates and frees the same few MiB each time. By default glibc returns them to the
// kernel, and clearing fresh pages then costs a quarter of a resnet8 step.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest value that glibc accepts
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
    // operations in parallel, so an existing pool stays idle.
  }
}

std::size_t count_correct(const torch::Tensor& logits, std::span<const std::int64_t> labels) {
  const auto best = logits.argmax(1);
  const auto* chosen = best.data_ptr<std::int64_t>();
  std::size_t correct = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) correct += chosen[i] == labels[i] ? 1 : 0;
  return correct;
}

// Views of the batch's memory. LibTorch has no tensors of constant data; the models only read.
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
      optimizer_(make_optimizer(options.optimizer, model_->parameters())),
      trainer_(std::make_unique<TorchTrainer>(
          *model_, *optimizer_,
          TorchTrainerOptions{.momentum_correction = options.optimizer.momentum_correction,
                              .step_in_backward = options.overlap,
                              .mix_buffers = options.mix_buffers,
                              .log = std::move(log)})) {
  model_->on_use([this](const torch::nn::Module& layer) { trainer_->adapter().uses(layer); });
  keep_freed_memory();
  set_threads(options.threads);
  if (trainer_->statistics().empty()) return;
  statistics_ = options.mix_buffers ? Statistics::kExchanged : Statistics::kLocal;
}

TorchLearner::~TorchLearner() {
  model_->on_use({});
}

ModelAdapter& TorchLearner::adapter() {
  return trainer_->adapter();
}

void TorchLearner::set_learning_rate(double rate) {
  trainer_->set_learning_rate(rate);
}

StepResult TorchLearner::train_step(const Batch& batch) {
  return with_plain_errors([&]() -> StepResult {
    std::size_t correct = 0;
    const double loss = trainer_->update(loss_of(batch, correct));
    return {loss, correct};
  });
}

void TorchLearner::clear_gradients() {
  trainer_->clear_gradients();
}

StepResult TorchLearner::backward(const Batch& batch) {
  StepResult result;
  const torch::Tensor loss = loss_of(batch, result.correct);
  result.loss = loss.item<double>();
  if (std::isfinite(result.loss)) loss.backward();
  return result;
}

void TorchLearner::update() {
  trainer_->apply_gradients();
}

torch::Tensor TorchLearner::loss_of(const Batch& batch, std::size_t& correct) {
  trainer_->statistics().end();
  set_training(true);
  const auto logits = model_->forward(images(batch, shape_));
  correct = count_correct(logits, batch.labels);
  return torch::nn::functional::cross_entropy(logits, labels(batch));
}

StepResult TorchLearner::evaluate(const Batch& batch) {
  return with_plain_errors([&]() -> StepResult {
    trainer_->statistics().end();
    set_training(false);
    torch::NoGradGuard no_grad;
    const auto logits = model_->forward(images(batch, shape_));
    const auto loss = torch::nn::functional::cross_entropy(logits, labels(batch));
    return {loss.item<double>(), count_correct(logits, batch.labels)};
  });
}

void TorchLearner::begin_statistics() {
  trainer_->statistics().begin();
}

void TorchLearner::accumulate_statistics(const Batch& batch) {
  with_plain_errors([&] {
    set_training(true);
    const torch::NoGradGuard no_grad;
    model_->forward(images(batch, shape_));
  });
}

void TorchLearner::set_training(bool training) {
  if (model_->is_training() != training) model_->train(training);
}

std::vector<ModelKind> torch_models() {
  std::vector<ModelKind> kinds;
  for (const std::string_view name : torch_model_names()) {
    kinds.push_back({name,
                     [](const LearnerOptions& options) {
                       return with_plain_errors(
                           [&] { return std::make_unique<TorchLearner>(options); });
                     },
                     [] { return blas_advice(blas_in_use()); }, threads_pay(name)});
  }
  return kinds;
}

}  // namespace fast
