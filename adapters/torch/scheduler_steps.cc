#include "adapters/torch/scheduler_steps.h"

namespace fast {

SchedulerSteps::SchedulerSteps(torch::optim::LRScheduler& scheduler,
                               torch::optim::Optimizer& optimizer, bool by_hand)
    : scheduler_(scheduler), optimizer_(optimizer), by_hand_(by_hand) {
  for (auto& group : optimizer.param_groups()) first_.push_back(group.options().get_lr());
}

void SchedulerSteps::step() {
  scheduler_.step();
  ++steps_;
}

void SchedulerSteps::stepped(std::size_t /*samples*/) {
  if (!by_hand_) step();
}

void SchedulerSteps::save(StateWriter& to) {
  to.put("scheduler/steps", steps_);
}

void SchedulerSteps::load(const StateReader& from) {
  const auto steps = from.value<std::uint64_t>("scheduler/steps");
  for (std::size_t i = 0; i < first_.size(); ++i) {
    optimizer_.param_groups()[i].options().set_lr(first_[i]);
  }
  for (steps_ = 0; steps_ < steps;) step();
}

}  // namespace fast
