#pragma once

#include "fast/programs/service_manager.h"
#include "fast/train/learner.h"

namespace fast {

/// A learner whose manager hears of each batch: it hears no more of a training thread that hangs.
class WatchedLearner final : public Learner {
 public:
  /// Both must outlive this.
  WatchedLearner(Learner& learner, ServiceManager& manager)
      : learner_(learner), manager_(manager) {}

  [[nodiscard]] ModelAdapter& adapter() override { return learner_.adapter(); }
  void set_learning_rate(double rate) override { learner_.set_learning_rate(rate); }
  StepResult train_step(const Batch& batch) override {
    const StepResult result = learner_.train_step(batch);
    manager_.alive();
    return result;
  }
  StepResult evaluate(const Batch& batch) override {
    const StepResult result = learner_.evaluate(batch);
    manager_.alive();
    return result;
  }
  [[nodiscard]] Statistics statistics() const override { return learner_.statistics(); }
  void begin_statistics() override { learner_.begin_statistics(); }
  void accumulate_statistics(const Batch& batch) override {
    learner_.accumulate_statistics(batch);
    manager_.alive();
  }

 private:
  Learner& learner_;
  ServiceManager& manager_;
};

}  // namespace fast
