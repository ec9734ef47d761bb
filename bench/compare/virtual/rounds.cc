#include "bench/compare/virtual/rounds.h"

#include <array>
#include <cmath>
#include <string_view>

#include "adapters/torch/models/model.h"
#include "stencil/core/mixing_weights.h"
#include "stencil/mix/following.h"

namespace fast::compare {
namespace {

/// Each worker on its own; the evaluation takes the mean.
class Apart : public RoundStrategy {
 public:
  Apart(const Cell& cell, const Split& split) : workers_(cell, split, cell.workers()) {}
  bool round(double progress, bool /*last*/) override {
    for (int i = 0; i < workers_.count(); ++i) {
      if (!workers_.step(i, progress)) return false;
    }
    return true;
  }
  VirtualWorkers& workers() override { return workers_; }

 protected:
  VirtualWorkers workers_;
};

/// Averages the gradients of all workers for one optimizer step. Replicas stay equal, so one model
/// stands for all.
class AveragedGradients final : public RoundStrategy {
 public:
  AveragedGradients(const Cell& cell, const Split& split) : workers_(cell, split, 1) {}
  bool round(double progress, bool /*last*/) override {
    TorchLearner& learner = workers_.learner(0);
    workers_.set_rate(0, progress);
    learner.clear_gradients();
    for (int worker = 0; worker < workers_.count(); ++worker) {
      if (!std::isfinite(learner.backward(workers_.next(worker)).loss)) return false;
    }
    const torch::NoGradGuard no_grad;
    for (auto& parameter : learner.model().parameters()) {
      if (parameter.grad().defined()) parameter.grad().div_(workers_.count());
    }
    learner.update();
    return true;
  }
  VirtualWorkers& workers() override { return workers_; }

 private:
  VirtualWorkers workers_;
};

/// D-PSGD (Lian et al. 2017), adapt then combine: X <- W (X - rate G).
class LockStep final : public Apart {
 public:
  LockStep(const Cell& cell, const Split& split)
      : Apart(cell, split),
        topology_(stencil::Topology::parse(cell.condition.topology)),
        weights_(topology_) {}
  bool round(double progress, bool last) override {
    if (!Apart::round(progress, last)) return false;
    for (int i = 0; last && i < workers_.count(); ++i) workers_.estimate_statistics(i);
    std::vector<Weights> mixed;
    for (int i = 0; i < workers_.count(); ++i) mixed.push_back(combined(i));
    for (int i = 0; i < workers_.count(); ++i) {
      const std::span<float> weights = workers_.weights(i);
      const Weights& mean = mixed[static_cast<std::size_t>(i)];
      stencil::change_followed(
          &workers_.learner(i).adapter().followers(), weights, 0, weights.size(),
          [&](std::size_t begin, std::size_t n) { std::copy_n(&mean[begin], n, &weights[begin]); });
    }
    return true;
  }

 private:
  Weights combined(int i) {
    std::vector<double> sum(workers_.weights(i).size());
    const auto add = [&](int j) {
      const double w = weights_.weight(i, j);
      const auto from = workers_.weights(j);
      for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += w * from[k];
    };
    add(i);
    for (const stencil::Rank j : topology_.neighbours(i)) add(j);
    return {sum.begin(), sum.end()};
  }

  stencil::Topology topology_;
  stencil::MixingWeights weights_;
};

}  // namespace

bool goes_by_rounds(const Strategy& strategy) {
  constexpr std::array<std::string_view, 5> kNames = {"single", "local", "allreduce",
                                                      "parameter-server-sync", "stencil-sync"};
  return std::ranges::find(kNames, strategy.name) != kNames.end();
}

std::unique_ptr<RoundStrategy> make_round_strategy(const Cell& cell, const Split& split) {
  const std::string& name = cell.strategy.name;
  if (name == "single" || name == "local") return std::make_unique<Apart>(cell, split);
  if (name == "allreduce" || name == "parameter-server-sync") {
    return std::make_unique<AveragedGradients>(cell, split);
  }
  if (name == "stencil-sync") return std::make_unique<LockStep>(cell, split);
  return nullptr;
}

}  // namespace fast::compare
