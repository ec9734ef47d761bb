#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "adapters/torch/models/torch_learner.h"
#include "bench/compare/cell.h"
#include "fast/session/exchange.h"
#include "fast/train/learner.h"

namespace fast::compare {

/// The place of a worker in a real run.
struct Place {
  int rank = 0;
  int workers = 1;
  std::uint64_t budget = 0;        ///< samples over all workers
  std::string host = "127.0.0.1";  ///< this worker's own address
  std::filesystem::path meeting;   ///< a folder shared by all processes of the run
  double deadline = 60;            ///< seconds: the longest wait for others
};

/// How a strategy changes a plain learner: its steps and its exchange. All else of a run is the
/// same for all strategies, in fast::Worker.
struct Participant {
  std::unique_ptr<Learner> learner;
  MakeExchange make_exchange;  ///< empty: fast::Session
};

/// Throws ConfigError for an unknown strategy, DeadlineError where other processes do not come up.
[[nodiscard]] Participant make_participant(const Cell& cell, const Place& place,
                                           std::unique_ptr<TorchLearner> learner);

/// Whether the strategy needs a server process beside the workers.
[[nodiscard]] bool has_server(const Strategy& strategy);
/// Whether the other workers finish successfully when one dies.
[[nodiscard]] bool bears_losses(const Strategy& strategy);

}  // namespace fast::compare
