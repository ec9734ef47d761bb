#include "bench/compare/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include "bench/compare/seconds.h"
#include "bench/compare/virtual/timing.h"
#include "fast/data/loader.h"

namespace fast::compare {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kJudged = 1.3;  // factor for evaluating curves and the final models
constexpr double kStart = 10;    // seconds of real processes before and after training

}  // namespace

double Estimate::seconds(const Cell& cell) {
  const Job& job = cell.job;
  const Known& known = look_up(cell);
  const double steps = job.epochs * known.examples / job.batch;
  if (cell.time == TimeKind::kVirtual) return steps * known.step_seconds * kJudged;
  const double cores = std::min<double>(cell.workers(), std::thread::hardware_concurrency());
  Cell timed = cell;
  if (cell.time == TimeKind::kReal) {
    timed.clockwork.step_seconds = known.step_seconds * kJudged * cell.workers() / cores;
  }
  RoundClock clock(timed, known.model_bytes);
  clock.tick();
  return kStart + steps / cell.workers() * clock.seconds();
}

const Estimate::Known& Estimate::look_up(const Cell& cell) {
  const Job& job = cell.job;
  Known& known = known_[fmt::format("{} {} {} {} {} {}", job.model, job.batch, job.data,
                                    job.examples, job.validation, name(cell.time))];
  if (known.examples > 0) return known;
  const Split split = load_split(cell, places_);
  known.examples = static_cast<double>(split.training.train->size());
  known.model_bytes =
      static_cast<double>(make_learner(cell, split.examples, 1)->adapter().values().size_bytes());
  if (cell.time != TimeKind::kStandIn) {
    if (speak_) fmt::print(stderr, "measuring a step of {}\n", job.model);
    known.step_seconds = measure_step(cell, split);
  }
  return known;
}

double measure_step(const Cell& cell, const Split& split) {
  constexpr int kWarm = 5, kMeasured = 40;
  const auto learner = make_learner(cell, split.examples, 1);
  std::vector<std::uint32_t> all(split.training.train->size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint32_t>(i);
  TrainLoader loader(split.training, std::move(all), static_cast<std::size_t>(cell.job.batch), 1);
  std::vector<double> times;
  for (int i = 0; i < kWarm + kMeasured; ++i) {
    const Clock::time_point begun = Clock::now();
    (void)learner->train_step(loader.next());
    if (i >= kWarm) times.push_back(since(begun));
  }
  std::ranges::nth_element(times, times.begin() + kMeasured / 2);
  return times[kMeasured / 2];
}

}  // namespace fast::compare
