#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "adapters/torch/models/torch_learner.h"
#include "bench/compare/cell.h"
#include "fast/session/exchange.h"
#include "fast/train/learner.h"

namespace fast::compare {

/// Where a worker of a real run stands.
struct Place {
  int rank = 0;
  int workers = 1;
  std::uint64_t budget = 0;        ///< samples over all workers
  std::string host = "127.0.0.1";  ///< this worker's own address
  std::filesystem::path meeting;   ///< a folder that all of the run's processes share
  double deadline = 60;            ///< seconds: the longest wait for others
};

/// What a strategy makes of a plain learner: how it steps and how it exchanges. Everything else of
/// a run is fast::Worker's, the same for all.
struct Participant {
  std::unique_ptr<Learner> learner;
  MakeExchange make_exchange;  ///< empty: fast::Session
};

/// Throws ConfigError for an unknown strategy, DeadlineError where the others do not come.
[[nodiscard]] Participant make_participant(const Cell& cell, const Place& place,
                                           std::unique_ptr<TorchLearner> learner);

/// True where a server process has to be started beside the workers.
[[nodiscard]] bool has_server(const Strategy& strategy);
/// True where the others go on, and end well, when a worker dies.
[[nodiscard]] bool bears_losses(const Strategy& strategy);

}  // namespace fast::compare
