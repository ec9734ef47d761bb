#pragma once

#include <atomic>
#include <functional>
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

/// Whether a worker is to pause, as somebody outside decides. Any thread.
class PauseWish {
 public:
  virtual ~PauseWish() = default;
  [[nodiscard]] virtual bool wanted() const = 0;
  /// Why it is wanted, for people: "the file /run/pause is there".
  [[nodiscard]] virtual std::string why() const = 0;
  /// Waits until it is wanted no more. Returns false where `stop` comes first. `waiting`, which may
  /// be empty, is called meanwhile, every second or more often.
  [[nodiscard]] virtual bool wait(const std::atomic<bool>& stop,
                                  const std::function<void()>& waiting) = 0;
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
  ///
  /// While `pause`, which may be null, is wanted, the worker is away: at the next step boundary it
  /// saves checkpoint and model, tells its neighbours that it will come back, ends its session and
  /// waits. Then it goes on as one that was started again, from its checkpoint. Once training has
  /// ended in agreement it does not pause any more.
  WorkerOutcome run(const std::atomic<bool>& stop, PauseWish* pause = nullptr);

 private:
  const WorkerConfig& config_;
  const Dataset& data_;
  Learner& learner_;
  MakeExchange make_;
};

}  // namespace fast
