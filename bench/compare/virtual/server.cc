#include "bench/compare/virtual/server.h"

#include <algorithm>
#include <cmath>
#include <queue>

#include "adapters/torch/models/model.h"
#include "bench/compare/virtual/timing.h"

namespace fast::compare {
namespace {

struct Push {
  double at;  ///< when the gradient is complete at its worker
  int rank;
  friend bool operator>(const Push& a, const Push& b) {
    return std::tie(a.at, a.rank) > std::tie(b.at, b.rank);
  }
};

}  // namespace

CellResult run_server(const Cell& cell, const Split& split, Recorder& recorder) {
  VirtualWorkers workers(cell, split, 1);
  TorchLearner& learner = workers.learner(0);
  const std::span<float> weights = workers.weights(0);
  StepTimes times(cell);
  const double model_bytes = static_cast<double>(weights.size_bytes());

  // The parameters that each worker has pulled and at which it computes gradients. The learner
  // holds the server's own parameters and optimizer, and lends its memory to workers.
  std::vector<Weights> pulled(static_cast<std::size_t>(workers.count()),
                              Weights(weights.begin(), weights.end()));
  Weights server(weights.begin(), weights.end());
  std::priority_queue<Push, std::vector<Push>, std::greater<>> pushes;
  for (int rank = 0; rank < workers.count(); ++rank) pushes.push({times.next(rank), rank});

  double in_busy = 0, out_busy = 0;
  Recorder::Moment moment;
  while (moment.samples < static_cast<double>(workers.budget())) {
    const Push push = pushes.top();
    pushes.pop();
    Weights& mine = pulled[static_cast<std::size_t>(push.rank)];
    std::ranges::copy(mine, weights.begin());
    learner.clear_gradients();
    if (!std::isfinite(learner.backward(workers.next(push.rank)).loss)) {
      return Recorder::diverged(moment);
    }
    std::ranges::copy(server, weights.begin());
    workers.set_rate(0, moment.samples / static_cast<double>(workers.budget()));
    learner.update();
    std::ranges::copy(weights, server.begin());

    // The server's link carries one gradient and one model at a time; latency does not block the
    // next one.
    in_busy = std::max(in_busy, push.at + times.latency()) + times.sending(model_bytes);
    out_busy = std::max(out_busy, in_busy) + times.sending(model_bytes);
    mine = server;
    pushes.push({out_busy + times.latency() + times.next(push.rank), push.rank});
    moment.samples += workers.batch();
    moment.seconds = in_busy;
    moment.bytes += 2 * model_bytes;
    recorder.at(moment, workers.budget(),
                [&] { return std::vector{std::span<const float>(server)}; });
  }
  return recorder.finish(workers, {std::span<const float>(server)}, moment);
}

}  // namespace fast::compare
