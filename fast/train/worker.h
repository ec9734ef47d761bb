#pragma once

#include <atomic>
#include <string>

#include "fast/data/dataset.h"
#include "fast/exit_codes.h"
#include "fast/session/exchange.h"
#include "fast/train/learner.h"
#include "fast/train/worker_config.h"

namespace fast {

/// How a worker ended.
struct WorkerOutcome {
  ExitCode code = ExitCode::kOk;
  std::string text;  ///< for people
};

/// One rank, from data to saved model: composes a learner, a session, the loaders, the schedule
/// and the metrics. Everything it writes is below RunFolder(config.out).worker(config.rank).
class Worker {
 public:
  /// The first three must outlive the worker. Without `make` it uses a Session. Throws ConfigError,
  /// FileError.
  Worker(const WorkerConfig& config, const Dataset& data, Learner& learner, MakeExchange make = {});

  /// Trains until the network-wide budget is used, settles, freezes, re-estimates BatchNorm on its
  /// own shard, evaluates on the test set, saves. Ends early, in good order, when `stop` becomes
  /// true (set by a signal handler). Errors during the run are not thrown, but in the outcome.
  WorkerOutcome run(const std::atomic<bool>& stop);

 private:
  const WorkerConfig& config_;
  const Dataset& data_;
  Learner& learner_;
  MakeExchange make_;
};

}  // namespace fast
