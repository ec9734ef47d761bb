#include "fast/train/judgement.h"

#include <fmt/format.h>

#include "fast/run/summary.h"

namespace fast {
namespace {

WorkerOutcome not_agreed(const TrainedWorker& worker, const ExchangeOptions& options) {
  if (worker.rests) {
    return {ExitCode::kWorkerLost,
            fmt::format("was at rest at the end, to keep within --data-cap {}, and agreed with "
                        "nobody; the model is this worker's own. Use a higher --data-cap, a "
                        "coarser --codec or fewer --sweeps",
                        options.data_cap)};
  }
  if (worker.agreement == Agreement::kDeadline) {
    return {ExitCode::kDeadline,
            fmt::format("neighbours did not agree to {} within {} s; the model is what there was "
                        "then. Raise --settle-deadline, or --settle-target",
                        options.settle_target, options.settle_deadline)};
  }
  if (worker.paused) {
    return {
        ExitCode::kWorkerLost,
        "cut off at the end: its neighbours have paused, and nobody was left to agree with; the "
        "model is this worker's own. Nobody waits for a worker that pauses"};
  }
  return {ExitCode::kWorkerLost,
          "cut off at the end: no neighbour was left to agree with; the model is this worker's "
          "own. To wait for the link to come back, use --wait-at-end SECONDS"};
}

}  // namespace

WorkerOutcome judgement(const TrainedWorker& worker, const ExchangeOptions& options) {
  if (!worker.late.empty()) {
    return {worker.alone ? ExitCode::kNoExchange : ExitCode::kWorkerLost, worker.late};
  }
  const bool agreed = worker.agreement == Agreement::kAgreed;
  if (!agreed && worker.alone) {
    return {ExitCode::kNoExchange,
            "trained alone: no exchange with any neighbour took place; the model is of this "
            "worker's own data"};
  }
  if (!agreed && !worker.stopped) return not_agreed(worker, options);
  const TestResult& result = worker.result;
  if (!result.learnt() && worker.samples >= kJudgedFrom) {
    return {ExitCode::kNotLearnt,
            fmt::format("the model has learnt nothing: {:.2f} % of the test set are right, and "
                        "chance makes up to {:.2f} %; lower the learning rate, or train longer",
                        100 * result.accuracy, 100 * result.chance)};
  }
  return worker.grown.empty() ? WorkerOutcome{} : WorkerOutcome{ExitCode::kNotLearnt, worker.grown};
}

}  // namespace fast
