#pragma once

#include <torch/optim/optimizer.h>
#include <torch/optim/schedulers/lr_scheduler.h>

#include <cstdint>
#include <vector>

#include "fast/checkpoint/saved_state.h"

namespace fast {

/// A learning-rate scheduler of LibTorch whose place is in checkpoints:
///
///     fast::SchedulerSteps schedule(scheduler, optimizer);
///     trainer.adapter().attach(schedule);
///     ... a session, its join(), and after each step of training:
///     schedule.step();  // instead of scheduler.step()
///
/// LibTorch hides what its schedulers hold, so a resumed run takes their steps again, from the
/// learning rates that the optimizer's groups had when this was made. Make it before join(), beside
/// a new scheduler. One thread. Both must outlive it.
class SchedulerSteps final : public Resumable {
 public:
  SchedulerSteps(torch::optim::LRScheduler& scheduler, torch::optim::Optimizer& optimizer);

  void step();

  void save(StateWriter& to) override;
  void load(const StateReader& from) override;

 private:
  torch::optim::LRScheduler& scheduler_;
  torch::optim::Optimizer& optimizer_;
  std::vector<double> first_;  ///< learning rates by group
  std::uint64_t steps_ = 0;
};

}  // namespace fast
