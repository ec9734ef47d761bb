#pragma once

#include <string>

#include "fast/session/exchange.h"
#include "fast/train/evaluation.h"
#include "fast/train/worker.h"

namespace fast {

/// What is known of a worker that has trained to the end and was evaluated.
struct TrainedWorker {
  Agreement agreement = Agreement::kAgreed;
  bool stopped = false;  ///< on request
  bool alone = false;    ///< it has exchanged with nobody
  bool rests = false;    ///< it exchanges nothing, to keep within its allowance of data
  bool paused = false;   ///< neighbours have left, to come back later
  std::string late{};    ///< why it came too late to agree with anybody (see too_late()); or empty
  TestResult result{};   ///< on the test set
  double samples = 0;    ///< that all workers have trained on, as far as is known
  std::string grown{};   ///< see SessionStatus::not_learnt
};

/// How its run has ended. A model that others have not agreed with, or that has learnt nothing, is
/// not the result of the run.
[[nodiscard]] WorkerOutcome judgement(const TrainedWorker& worker, const ExchangeOptions& options);

}  // namespace fast
