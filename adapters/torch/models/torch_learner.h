#pragma once

#include <memory>
#include <vector>

#include "fast/train/learner.h"
#include "fast/train/models.h"
#include "stencil/core/types.h"

// LibTorch's headers take longer to compile than all that includes this one.
namespace at {
class Tensor;
}
namespace torch::optim {
class Optimizer;
}

namespace fast {

class Model;
class TorchTrainer;
struct Loss;
struct RateGroup;

/// A model of this folder with torch::optim::SGD or AdamW, trained by a TorchTrainer.
class TorchLearner final : public Learner {
 public:
  /// Sets, for the whole process, LibTorch's thread counts (`options.threads` within an operation,
  /// one between operations), its random numbers (by `options.seed` and `.stream`) and glibc's
  /// malloc to keep freed memory. `log` gets a line about
  /// parameters that the adapter moved back, and may be empty. Throws ConfigError for an unknown
  /// model or optimizer.
  explicit TorchLearner(const LearnerOptions& options, stencil::LogSink log = {});
  /// The same with a model of the caller, for inputs and targets as options.examples says;
  /// options.model and .seed are not used.
  TorchLearner(std::shared_ptr<Model> model, const LearnerOptions& options,
               stencil::LogSink log = {});
  ~TorchLearner() override;

  [[nodiscard]] ModelAdapter& adapter() override;
  void set_learning_rate(double learning_rate) override;
  StepResult train_step(const Batch& batch) override;
  StepResult evaluate(const Batch& batch) override;
  [[nodiscard]] Statistics statistics() const override { return statistics_; }
  void begin_statistics() override;
  void accumulate_statistics(const Batch& batch) override;

  // The parts of train_step(), for callers that change gradients in between.
  void clear_gradients();
  /// Adds to the gradients, except where the loss is not finite.
  StepResult backward(const Batch& batch);
  /// The optimizer's step.
  void update();
  [[nodiscard]] Model& model() { return *model_; }

 private:
  [[nodiscard]] at::Tensor inputs(const Batch& batch) const;
  [[nodiscard]] at::Tensor targets_of(const Batch& batch) const;
  [[nodiscard]] at::Tensor loss_of(const Batch& batch, double& correct);
  void begin_training();
  void set_training(bool training);

  ExampleSpec examples_;
  std::unique_ptr<const Loss> loss_;
  std::shared_ptr<Model> model_;
  std::vector<RateGroup> rates_;  ///< by the optimizer's groups
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
  std::unique_ptr<TorchTrainer> trainer_;
  Statistics statistics_ = Statistics::kNone;
};

/// The models of adapters/torch/models, for a program's list.
[[nodiscard]] std::vector<ModelKind> torch_models();

}  // namespace fast
