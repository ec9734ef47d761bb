#pragma once

#include <torch/optim/optimizer.h>
#include <torch/optim/schedulers/lr_scheduler.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fast/checkpoint/saved_state.h"

namespace fast {

/// A learning-rate scheduler of LibTorch that a session steps, and whose place is in checkpoints:
///
///     fast::SchedulerSteps schedule(scheduler, optimizer);
///     trainer.adapter().attach(schedule);
///
/// Each exchange makes a step of the schedule, too. LibTorch hides what its schedulers hold, so a
/// resumed run takes their steps again, from the learning rates that the optimizer's groups had
/// when this was made. Make it before the session, beside a new scheduler. One thread. Both must
/// outlive it.
class SchedulerSteps final : public Resumable {
 public:
  /// Where it is not the steps of training that count, but epochs, say, `by_hand` leaves step() to
  /// the loop.
  SchedulerSteps(torch::optim::LRScheduler& scheduler, torch::optim::Optimizer& optimizer,
                 bool by_hand = false);

  void step();

  void save(StateWriter& to) override;
  void load(const StateReader& from) override;
  void stepped(std::size_t samples) override;

 private:
  torch::optim::LRScheduler& scheduler_;
  torch::optim::Optimizer& optimizer_;
  bool by_hand_;
  std::vector<double> first_;  ///< learning rates by group
  std::uint64_t steps_ = 0;
};

}  // namespace fast
