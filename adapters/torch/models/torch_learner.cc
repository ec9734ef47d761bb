#include "adapters/torch/models/torch_learner.h"

#include <ATen/Parallel.h>
#include <malloc.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>
#include <torch/utils.h>

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "adapters/torch/models/blas.h"
#include "adapters/torch/models/losses.h"
#include "adapters/torch/models/model.h"
#include "adapters/torch/models/models.h"
#include "adapters/torch/models/parameter_groups.h"
#include "adapters/torch/models/plain_errors.h"
#include "adapters/torch/torch_trainer.h"
#include "fast/errors.h"
#include "stencil/core/random.h"

namespace fast {
namespace {

namespace optim = torch::optim;

constexpr std::uint64_t kDropoutStream = 0x64726f70ULL;

std::unique_ptr<optim::Optimizer> make_optimizer(const OptimizerOptions& options,
                                                 std::vector<optim::OptimizerParamGroup> groups) {
  if (options.name == "sgd") {
    return std::make_unique<optim::SGD>(std::move(groups),
                                        optim::SGDOptions(options.learning_rate)
                                            .momentum(options.momentum)
                                            .nesterov(options.nesterov && options.momentum > 0)
                                            .weight_decay(options.weight_decay));
  }
  if (options.name == "adamw") {
    return std::make_unique<optim::AdamW>(
        std::move(groups),
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
  at::set_num_threads(bears_threads(blas_in_use()) ? threads : 1);
  if (at::get_num_interop_threads() == 1) return;
  try {
    at::set_num_interop_threads(1);
  } catch (const c10::Error&) {
    // LibTorch allows this once a process, before its first parallel work. Nothing here runs
    // operations in parallel, so an existing pool stays idle.
  }
}

// A view of the batch's memory. LibTorch has no tensors of constant data; the models only read.
torch::Tensor tensor_of(const Values& values, std::size_t examples, const ArraySpec& array) {
  std::vector<std::int64_t> sides = array.shape;
  sides.insert(sides.begin(), static_cast<std::int64_t>(examples));
  const auto type = array.type == ValueType::kInt64 ? torch::kInt64 : torch::kFloat32;
  return std::visit(
      [&](auto span) {
        using Element = std::remove_const_t<typename decltype(span)::element_type>;
        return torch::from_blob(const_cast<Element*>(span.data()), sides, type);
      },
      values);
}

double count_correct(const Loss& loss, const torch::Tensor& outputs, const torch::Tensor& targets) {
  if (!loss.correct) return std::numeric_limits<double>::quiet_NaN();
  const auto each = static_cast<double>(targets.numel()) / static_cast<double>(targets.size(0));
  return loss.correct(outputs, targets) / each;
}

}  // namespace

TorchLearner::TorchLearner(const LearnerOptions& options, stencil::LogSink log)
    : TorchLearner(make_model(options), as_taken(options), std::move(log)) {}

TorchLearner::TorchLearner(std::shared_ptr<Model> model, const LearnerOptions& options,
                           stencil::LogSink log)
    : examples_(options.examples),
      loss_(std::make_unique<const Loss>(find_loss(options.loss, options.examples))),
      model_(frozen(std::move(model), options.freeze)),
      rates_(rates_of(*model_, options.rate_of)),
      optimizer_(make_optimizer(options.optimizer, groups_of(rates_))),
      trainer_(std::make_unique<TorchTrainer>(
          *model_, *optimizer_,
          TorchTrainerOptions{.momentum_correction = options.optimizer.momentum_correction,
                              .step_in_backward = options.overlap,
                              .mix_buffers = options.mix_buffers,
                              .log = std::move(log)})) {
  if (!script_file(options.loss).empty()) {
    const torch::NoGradGuard no_grad;
    model_->train(false);
    check_outputs(*loss_, model_->forward(two_zeros(examples_.input)), two_zeros(examples_.target),
                  examples_, "model " + options.model);
  }
  // Of the whole process: what dropout draws differs from worker to worker.
  torch::manual_seed(stencil::Random::derive(options.seed, kDropoutStream + options.stream));
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
  for (std::size_t i = 0; i < rates_.size(); ++i) {
    optimizer_->param_groups()[i].options().set_lr(rate * rates_[i].factor);
  }
}

StepResult TorchLearner::train_step(const Batch& batch) {
  return with_plain_errors([&]() -> StepResult {
    double correct = 0;
    begin_training();
    const double loss = trainer_->update(loss_of(batch, correct));
    return {loss, correct};
  });
}

void TorchLearner::clear_gradients() {
  trainer_->clear_gradients();
}

StepResult TorchLearner::backward(const Batch& batch) {
  StepResult result;
  begin_training();
  const torch::Tensor loss = loss_of(batch, result.correct);
  result.loss = loss.item<double>();
  if (std::isfinite(result.loss)) loss.backward();
  return result;
}

void TorchLearner::update() {
  trainer_->apply_gradients();
}

torch::Tensor TorchLearner::inputs(const Batch& batch) const {
  return tensor_of(batch.inputs, batch.size, examples_.input);
}

torch::Tensor TorchLearner::targets_of(const Batch& batch) const {
  return tensor_of(batch.targets, batch.size, examples_.target);
}

torch::Tensor TorchLearner::loss_of(const Batch& batch, double& correct) {
  const auto targets = targets_of(batch);
  const auto outputs = model_->forward(inputs(batch));
  correct = count_correct(*loss_, outputs.detach(), targets);
  return loss_->of(outputs, targets);
}

StepResult TorchLearner::evaluate(const Batch& batch) {
  return with_plain_errors([&]() -> StepResult {
    trainer_->statistics().end();
    set_training(false);
    torch::NoGradGuard no_grad;
    const auto targets = targets_of(batch);
    const torch::Tensor outputs = model_->forward(inputs(batch));
    StepResult result{loss_->of(outputs, targets).item<double>(),
                      count_correct(*loss_, outputs, targets)};
    if (loss_->of_numbers) result.distance = distance(outputs, targets);
    return result;
  });
}

void TorchLearner::begin_statistics() {
  trainer_->statistics().begin();
}

void TorchLearner::accumulate_statistics(const Batch& batch) {
  with_plain_errors([&] {
    set_training(true);
    const torch::NoGradGuard no_grad;
    (void)model_->forward(inputs(batch));
  });
}

void TorchLearner::begin_training() {
  trainer_->statistics().end();
  set_training(true);
}

void TorchLearner::set_training(bool training) {
  if (model_->is_training() != training) model_->train(training);
}

std::vector<ModelKind> torch_models() {
  std::vector<ModelKind> kinds;
  for (const std::string_view name : torch_model_forms()) {
    kinds.push_back({std::string(name),
                     [](const LearnerOptions& options) {
                       return with_plain_errors(
                           [&] { return std::make_unique<TorchLearner>(options); });
                     },
                     [] { return blas_advice(blas_in_use()); }, threads_pay(name)});
  }
  return kinds;
}

}  // namespace fast
