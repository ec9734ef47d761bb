#pragma once

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>
#include <torch/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "adapters/torch/batch_norm.h"
#include "adapters/torch/momentum_correction.h"
#include "adapters/torch/optimizer_parts.h"
#include "adapters/torch/optimizer_state.h"
#include "adapters/torch/step_in_backward.h"
#include "adapters/torch/torch_adapter.h"
#include "fast/checkpoint/saved_state.h"
#include "stencil/core/types.h"

namespace fast {

class Session;

struct TorchTrainerOptions {
  /// Of what neighbours move the model by, the share that SGD's momentum takes in; see
  /// MomentumCorrection. Other optimizers, and SGD without momentum, go without.
  double momentum_correction = 0.5;
  /// Gradients are scaled down to this norm over all of them, where it is larger; 0: never. Not
  /// together with step_in_backward.
  double clip_norm = 0;
  /// Each part of the step is made as soon as its gradients are there, so that the exchange begins
  /// in the backward pass; see StepInBackward.
  bool step_in_backward = true;
  /// BatchNorm's running statistics are exchanged. They stand still in training: call
  /// gather_statistics() when it is over.
  bool mix_buffers = true;
  stencil::LogSink log{};  ///< of the adapter; may be empty
};

/// The step of `fast train` for a model and an optimizer of one's own: backward pass, clipping,
/// optimizer and exchange, with what makes averaging work best.
///
///     fast::TorchTrainer trainer(*model, optimizer);
///     fast::Session session(trainer.adapter(), options);
///     session.join();
///     while (!session.done()) {
///       trainer.step(cross_entropy(model->forward(x), y), session, x.size(0));
///     }
///     trainer.gather_statistics(20, [&] { model->forward(next_batch()); });  // with BatchNorm
///     session.finish();
///
/// The optimizer may be any of torch::optim but LBFGS, with any number of groups; learning rates
/// and other options may change at any time. Parameters without requires_grad are left alone.
///
/// A session's checkpoints hold all of it: optimizer, momentum correction and LibTorch's random
/// numbers (which all of a process share).
///
/// One thread. Model and optimizer must outlive it, and their parameters stay the same: one that is
/// added later is refused by name.
class TorchTrainer final : private Resumable {
 public:
  /// Throws ConfigError for an optimizer or options that cannot be, naming them; AdapterError for a
  /// model that cannot be exchanged.
  TorchTrainer(torch::nn::Module& model, torch::optim::Optimizer& optimizer,
               TorchTrainerOptions options = {});
  ~TorchTrainer() override;
  TorchTrainer(const TorchTrainer&) = delete;
  TorchTrainer& operator=(const TorchTrainer&) = delete;

  [[nodiscard]] TorchAdapter& adapter() { return adapter_; }

  /// The backward pass of `loss`, a scalar that the model has just given, the optimizer's step, and
  /// the exchange; `samples`: examples that the step is of. Returns the loss. Throws NonFiniteError
  /// where it is no number, with no step made; and what Session::exchange() throws.
  double step(const torch::Tensor& loss, Session& session, std::size_t samples);
  /// The backward pass alone: its gradients are added to those of the next step.
  void accumulate(const torch::Tensor& loss);
  /// step() without the exchange. Where the loss is no number: no step, and it is returned.
  double update(const torch::Tensor& loss);

  // The parts of update(), for who has something to do with gradients in between; then nothing is
  // made in the backward pass.
  void clear_gradients() { optimizer_.zero_grad(); }
  void apply_gradients();

  /// Takes BatchNorm's statistics anew, of as many forward passes, which `forward` makes, as a mean
  /// over all. To be called when training is over and before Session::finish(), which agrees on
  /// their mean over workers, so few batches of one's own shard do. Nothing for models without.
  void gather_statistics(int batches, const std::function<void()>& forward);
  [[nodiscard]] BatchNormStatistics& statistics() { return statistics_; }

  void set_learning_rate(double rate);

 private:
  void save(StateWriter& to) override;
  void load(const StateReader& from) override;
  void model_replaced() override;
  void check_options(const TorchTrainerOptions& options) const;
  void check_parameters() const;
  [[nodiscard]] std::vector<torch::Tensor> trained() const;
  [[nodiscard]] std::string name_of(const torch::Tensor& parameter) const;
  [[nodiscard]] ParameterName saved_names() const;
  void make_step();

  torch::nn::Module& model_;
  torch::optim::Optimizer& optimizer_;
  double clip_norm_;
  std::vector<std::vector<const void*>> known_;         ///< by group
  std::unordered_map<const void*, std::string> names_;  ///< the model's, by TensorImpl
  TorchAdapter adapter_;
  BatchNormStatistics statistics_;
  std::optional<MomentumCorrection> correction_;
  std::optional<OptimizerParts> parts_;
  std::optional<StepInBackward> in_backward_;
};

}  // namespace fast
