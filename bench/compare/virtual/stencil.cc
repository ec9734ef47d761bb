#include "bench/compare/virtual/stencil.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <vector>

#include "fast/checkpoint/saved_state.h"
#include "stencil/sim/simulator.h"

namespace fast::compare {
namespace {

/// Local steps on real models. The simulation owns the weights; a learner borrows them for a step
/// and keeps momentum and BatchNorm's statistics.
class Training final : public stencil::sim::Objective {
 public:
  explicit Training(VirtualWorkers& workers) : workers_(workers) {}

  std::size_t dimension() const override { return workers_.weights(0).size(); }
  void initial(stencil::Rank rank, std::span<float> x) const override {
    std::ranges::copy(workers_.weights(rank), x.begin());
  }
  void step(stencil::Rank rank, std::span<float> x) override {
    if (diverged) return;
    const auto weights = workers_.weights(rank);
    std::ranges::copy(x, weights.begin());
    if (!workers_.step(rank, progress(rank))) diverged = true;
    std::ranges::copy(weights, x.begin());
    ++steps;
  }
  stencil::Followers* followers(stencil::Rank rank) override {
    return &workers_.learner(rank).adapter().followers();
  }
  void model_replaced(stencil::Rank rank) override {
    for (Resumable* const part : workers_.learner(rank).adapter().parts()) part->model_replaced();
  }
  void last(stencil::Rank rank, std::span<float> x) override {
    const auto weights = workers_.weights(rank);
    std::ranges::copy(x, weights.begin());
    workers_.estimate_statistics(rank);
    std::ranges::copy(weights, x.begin());
  }
  double value(std::span<const float> /*x*/) const override { return 0; }

  std::function<double(stencil::Rank)> progress;
  std::uint64_t steps = 0;
  bool diverged = false;

 private:
  VirtualWorkers& workers_;
};

/// Virtual seconds that workers may take to settle.
constexpr double kSettleSeconds = 60;

stencil::sim::SimulationConfig simulation_config(const Cell& cell) {
  stencil::sim::SimulationConfig config;
  config.topology = stencil::Topology::parse(cell.condition.topology);
  config.exchange = cell.strategy.exchange;
  config.exchange.settle_deadline = kSettleSeconds;
  config.seed = cell.seed;
  config.step_seconds = cell.clockwork.step_seconds;
  config.step_jitter = cell.condition.jitter;
  for (const auto& [rank, factor] : cell.condition.slow) config.slow[rank] = factor;
  for (const Absence& one : cell.condition.away) {
    if (one.kind == Absence::Kind::kFrozen) {
      config.freezes.push_back({.rank = one.rank, .from = one.from, .to = one.to});
    }
  }
  config.link.latency = cell.clockwork.latency;
  const double mbit =
      cell.condition.link_mbit > 0 ? cell.condition.link_mbit : cell.clockwork.rate_mbit;
  config.worker_bandwidth = mbit * 1e6 / 8;
  config.asks_for_parts = config.exchange.by_layer;
  config.finish = true;
  return config;
}

/// Kills workers and brings them back, each with the model of its last step.
class Deaths {
 public:
  Deaths(const Cell& cell, stencil::sim::Simulation& simulation) : simulation_(simulation) {
    for (const Absence& one : cell.condition.away) {
      if (one.kind != Absence::Kind::kDead) continue;
      events_.push_back({one.from, one.rank, true});
      events_.push_back({one.to, one.rank, false});
    }
    std::ranges::stable_sort(events_, std::ranges::greater(), &Event::time);
  }
  /// Advances virtual time to `seconds`, through all deaths and returns until then.
  void run_until(double seconds) {
    for (; !events_.empty() && events_.back().time <= seconds; events_.pop_back()) {
      const Event& event = events_.back();
      simulation_.run_until(event.time);
      if (event.dies) {
        saved_[event.rank] = simulation_.save(event.rank);
        simulation_.kill(event.rank, stencil::sim::Death::kProcess);
      } else {
        simulation_.restart(event.rank, &saved_[event.rank]);
      }
    }
    simulation_.run_until(seconds);
  }

 private:
  struct Event {
    double time = 0;
    stencil::Rank rank = 0;
    bool dies = false;
  };
  stencil::sim::Simulation& simulation_;
  std::vector<Event> events_;  ///< the next one last
  std::map<stencil::Rank, stencil::sim::Saved> saved_;
};

}  // namespace

CellResult run_stencil(const Cell& cell, const Split& split, Recorder& recorder) {
  VirtualWorkers workers(cell, split, cell.workers());
  Training training(workers);
  stencil::sim::Simulation simulation(simulation_config(cell), training);
  const double per_worker =
      static_cast<double>(workers.budget()) / workers.count() / workers.batch();
  // Like a real worker, each uses what gossip has told it of all workers' steps.
  training.progress = [&](stencil::Rank rank) {
    return simulation.telemetry(rank)[0] / per_worker;
  };
  const auto models = [&] {
    std::vector<std::span<const float>> out;
    for (int rank = 0; rank < workers.count(); ++rank) {
      if (simulation.alive(rank)) out.push_back(simulation.model(rank));
    }
    return out;
  };
  Deaths deaths(cell, simulation);
  const double slice = cell.clockwork.step_seconds / 4;
  double time = 0, bytes = 0;
  const auto samples = [&] { return static_cast<double>(training.steps) * workers.batch(); };
  while (samples() < static_cast<double>(workers.budget()) && !training.diverged) {
    deaths.run_until(time += slice);
    if (recorder.due(samples(), workers.budget())) {
      bytes = static_cast<double>(simulation.bytes_sent());
    }
    recorder.at({samples(), time, bytes}, workers.budget(), models);
  }
  const Recorder::Moment end{samples(), time, static_cast<double>(simulation.bytes_sent())};
  if (training.diverged) return Recorder::diverged(end);
  (void)simulation.finish();
  return recorder.finish(workers, models(), end);
}

}  // namespace fast::compare
