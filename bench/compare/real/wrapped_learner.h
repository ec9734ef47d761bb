#pragma once

#include <memory>
#include <utility>

#include "adapters/torch/models/torch_learner.h"
#include "fast/train/learner.h"

namespace fast::compare {

/// A TorchLearner whose step a derived class replaces.
class WrappedLearner : public Learner {
 public:
  explicit WrappedLearner(std::unique_ptr<TorchLearner> inner) : inner_(std::move(inner)) {}
  ModelAdapter& adapter() override { return inner_->adapter(); }
  void set_learning_rate(double rate) override { inner_->set_learning_rate(rate); }
  StepResult evaluate(const Batch& batch) override { return inner_->evaluate(batch); }
  Statistics statistics() const override { return inner_->statistics(); }
  void begin_statistics() override { inner_->begin_statistics(); }
  void accumulate_statistics(const Batch& batch) override { inner_->accumulate_statistics(batch); }

 protected:
  std::unique_ptr<TorchLearner> inner_;
};

}  // namespace fast::compare
