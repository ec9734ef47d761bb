#pragma once

#include <memory>
#include <vector>

#include "fast/train/learner.h"
#include "fast/train/models.h"
#include "stencil/core/types.h"

namespace torch::nn {
class BatchNorm2dImpl;
}
namespace torch::optim {
class Optimizer;
}

namespace fast {

class Model;
class MomentumCorrection;
class StepInBackward;
class TorchAdapter;

/// A model of adapters/torch/models with torch::optim::SGD or AdamW and a TorchAdapter.
class TorchLearner final : public Learner {
 public:
  /// Sets, for the whole process, LibTorch's thread counts (`options.threads` within an operation,
  /// one between operations) and glibc's malloc to keep what is freed. `log` hears of re-homed
  /// parameters and may be empty. Throws ConfigError for an unknown model or optimizer.
  explicit TorchLearner(const LearnerOptions& options, stencil::LogSink log = {});
  /// The same with a model of one's own; options.model and .seed are not used.
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

  // The parts of train_step(), for who has something to do with gradients in between.
  void clear_gradients();
  /// Adds to the gradients; where the loss is not finite, it leaves them alone.
  StepResult backward(const Batch& batch);
  /// The optimizer's step.
  void update();
  [[nodiscard]] Model& model() { return *model_; }

 private:
  /// An optimizer for some of the parameters, and what goes with it.
  struct Part {
    std::unique_ptr<torch::optim::Optimizer> optimizer;
    std::unique_ptr<MomentumCorrection> correction;  ///< may be null
    void step();
  };
  void leave_statistics();
  void set_training(bool training);

  ImageShape shape_;
  std::shared_ptr<Model> model_;
  std::unique_ptr<TorchAdapter> adapter_;
  std::vector<Part> parts_;                  ///< one, or more that are made in the backward pass
  std::unique_ptr<StepInBackward> overlap_;  ///< null: it is made after it
  std::vector<torch::nn::BatchNorm2dImpl*> norms_;
  Statistics statistics_ = Statistics::kNone;
  std::vector<double> momenta_;  ///< while statistics are gathered
};

/// The models of adapters/torch/models, for a program's list.
[[nodiscard]] std::vector<ModelKind> torch_models();

}  // namespace fast
