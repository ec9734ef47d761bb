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
  /// The share of the exchange's moves of the model that enters SGD's momentum; see
  /// fast/momentum.h. Not used by other optimizers or by SGD without momentum.
  double momentum_correction = 0.5;
  /// Gradients are scaled down where their overall norm exceeds this; 0: never. Not together with
  /// step_in_backward.
  double clip_norm = 0;
  /// The step of each part is taken as soon as its gradients are ready, so that the exchange begins
  /// in the backward pass; see StepInBackward. On by default, since step() is all of a step: who
  /// comes in between says so, by apply_gradients(). In Python, where the step is the user's own,
  /// nobody can know, and it has to be asked for.
  bool step_in_backward = true;
  /// BatchNorm's running statistics follow this worker's own batches in training, and become the
  /// mean over workers at the end; see TorchAdapterOptions.
  bool mix_buffers = true;
  stencil::LogSink log{};  ///< passed to the adapter; may be empty
};

/// The training step of `fast train` for any model and optimizer: backward pass, clipping,
/// optimizer and exchange, with momentum correction and overlap.
///
///     fast::TorchTrainer trainer(*model, optimizer);
///     fast::Session session(trainer.adapter(), options);
///     session.join();
///     while (!session.done()) {
///       trainer.step(cross_entropy(model->forward(x), y), session, x.size(0));
///     }
///     session.finish();
///
/// The optimizer may be any of torch::optim except LBFGS, with any number of groups; learning rates
/// and other options may change at any time. Parameters without requires_grad are ignored.
///
/// A session's checkpoints include the optimizer, the momentum correction and LibTorch's random
/// state, which is global to the process.
///
/// One thread. Model and optimizer must outlive it and keep the same parameters; a parameter that
/// is added later is refused by name.
class TorchTrainer final : private Resumable {
 public:
  /// Throws ConfigError for an unsupported optimizer or option, naming it; AdapterError for a model
  /// that cannot be exchanged.
  TorchTrainer(torch::nn::Module& model, torch::optim::Optimizer& optimizer,
               TorchTrainerOptions options = {});
  ~TorchTrainer() override;
  TorchTrainer(const TorchTrainer&) = delete;
  TorchTrainer& operator=(const TorchTrainer&) = delete;

  [[nodiscard]] TorchAdapter& adapter() { return adapter_; }

  /// The backward pass of `loss`, a scalar that the model has just computed, then the optimizer's
  /// step and the exchange. `samples` is the number of examples of the step. Returns the loss.
  /// Throws NonFiniteError where the loss is not finite, without a step, and what
  /// Session::exchange() throws.
  double step(const torch::Tensor& loss, Session& session, std::size_t samples);
  /// Only the backward pass: its gradients are added to those of the next step.
  void accumulate(const torch::Tensor& loss);
  /// step() without the exchange. Where the loss is not finite, takes no step. Returns the loss.
  double update(const torch::Tensor& loss);

  // The parts of update(), for callers that change gradients in between; no step is then taken in
  // the backward pass.
  void clear_gradients() { optimizer_.zero_grad(); }
  void apply_gradients();

  /// Optional: gathers BatchNorm's statistics anew, as the mean over `batches` forward passes, each
  /// one call of `forward`, which is more exact than those that training leaves. Call it when
  /// training is over and before Session::finish(), which averages the statistics over workers, so
  /// a few batches of the own shard are enough. Does nothing for models without BatchNorm.
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
