#include "bench/compare/virtual/gradients.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <queue>

#include "adapters/torch/models/model.h"
#include "bench/compare/virtual/timing.h"
#include "stencil/core/topology.h"

namespace fast::compare {
namespace {

using Gradient = std::shared_ptr<const std::vector<torch::Tensor>>;

struct Arrival {
  double at;
  Gradient gradient;
};

struct StepEnd {
  double at;
  int rank;
  friend bool operator>(const StepEnd& a, const StepEnd& b) {
    return std::tie(a.at, a.rank) > std::tie(b.at, b.rank);
  }
};

Gradient taken(TorchLearner& learner) {
  auto out = std::make_shared<std::vector<torch::Tensor>>();
  for (const auto& parameter : learner.model().parameters()) {
    out->push_back(parameter.grad().clone());
  }
  return out;
}

void put(TorchLearner& learner, const std::vector<torch::Tensor>& gradient) {
  const torch::NoGradGuard no_grad;
  auto parameters = learner.model().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].grad().copy_(gradient[i]);
}

}  // namespace

CellResult run_gradients(const Cell& cell, const Split& split, Recorder& recorder) {
  VirtualWorkers workers(cell, split, cell.workers());
  const stencil::Topology topology = stencil::Topology::parse(cell.condition.topology);
  StepTimes times(cell);
  const double model_bytes = static_cast<double>(workers.weights(0).size_bytes());
  std::vector<std::deque<Arrival>> inbox(static_cast<std::size_t>(workers.count()));
  std::priority_queue<StepEnd, std::vector<StepEnd>, std::greater<>> ends;
  for (int rank = 0; rank < workers.count(); ++rank) ends.push({times.next(rank), rank});

  Recorder::Moment moment;
  while (moment.samples < static_cast<double>(workers.budget())) {
    const StepEnd end = ends.top();
    ends.pop();
    TorchLearner& learner = workers.learner(end.rank);
    workers.set_rate(end.rank, moment.samples / static_cast<double>(workers.budget()));
    learner.clear_gradients();
    if (!std::isfinite(learner.backward(workers.next(end.rank)).loss)) {
      return Recorder::diverged(moment);
    }
    const Gradient own = taken(learner);
    learner.update();
    auto& arrived = inbox[static_cast<std::size_t>(end.rank)];
    while (!arrived.empty() && arrived.front().at <= end.at) {
      put(learner, *arrived.front().gradient);
      learner.update();
      arrived.pop_front();
    }
    double sent = 0;
    for (const stencil::Rank to : topology.neighbours(end.rank)) {
      sent += model_bytes;
      auto& box = inbox[static_cast<std::size_t>(to)];
      box.push_back({end.at + times.transfer(sent), own});
      std::ranges::stable_sort(box, {}, &Arrival::at);
    }
    ends.push({end.at + times.next(end.rank), end.rank});
    moment.samples += workers.batch();
    moment.seconds = end.at;
    moment.bytes += sent;
    recorder.at(moment, workers.budget(), [&] { return workers.all_weights(); });
  }
  return recorder.finish(workers, workers.all_weights(), moment);
}

}  // namespace fast::compare
