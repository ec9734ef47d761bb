#include "bench/compare/real/stand_in.h"

#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace fast::compare {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kForwardShare = 1.0 / 3.0;

std::int64_t in_ticks(Clock::time_point time) {
  return time.time_since_epoch().count();
}

void wait_until(std::int64_t ticks) {
  std::this_thread::sleep_until(Clock::time_point(Clock::duration(ticks)));
}

/// The identity function, which waits until given times, forward and backward.
struct Wait : torch::autograd::Function<Wait> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context, torch::Tensor through,
                               std::int64_t forward_end, std::int64_t backward_end) {
    context->saved_data["until"] = backward_end;
    wait_until(forward_end);
    return through.clone();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    wait_until(context->saved_data["until"].toInt());
    return {gradients[0], torch::Tensor(), torch::Tensor()};
  }
};

class StandIn final : public Model {
 public:
  StandIn(const Model& like, const ExampleSpec& examples, std::function<double()> step_seconds)
      : scores_(examples.target.shape), step_seconds_(std::move(step_seconds)) {
    scores_.push_back(examples.classes);
    for (const auto& named : like.named_parameters()) {
      std::string name = named.key();
      std::ranges::replace(name, '.', '_');
      parameters_.push_back(register_parameter(name, named.value().detach().clone()));
      if (parameters_.back().dim() > 1) ++layers_;
    }
  }

  torch::Tensor forward(torch::Tensor images) override {
    const Clock::time_point begun = Clock::now();
    const double step = is_training() ? step_seconds_() : 0;
    const auto at = [&](double share) {
      return in_ticks(begun + std::chrono::duration_cast<Clock::duration>(
                                  std::chrono::duration<double>(share * step)));
    };
    auto through = torch::zeros({1});
    int layer = 0;
    for (const auto& parameter : parameters_) {
      through = through + parameter.sum();
      if (parameter.dim() < 2 || !is_training()) continue;
      // Backward ends with the first layer's share.
      const double before = static_cast<double>(layer) / layers_;
      const double after = static_cast<double>(++layer) / layers_;
      through =
          Wait::apply(through, at(kForwardShare * after), at(1 - (1 - kForwardShare) * before));
    }
    std::vector<std::int64_t> sides = scores_;
    sides.insert(sides.begin(), images.size(0));
    return torch::zeros(sides) + through;
  }

 private:
  std::vector<std::int64_t> scores_;  ///< of one example
  std::function<double()> step_seconds_;
  std::vector<torch::Tensor> parameters_;
  int layers_ = 0;
};

}  // namespace

std::shared_ptr<Model> make_stand_in(const Model& like, const ExampleSpec& examples,
                                     std::function<double()> step_seconds) {
  return std::make_shared<StandIn>(like, examples, std::move(step_seconds));
}

}  // namespace fast::compare
