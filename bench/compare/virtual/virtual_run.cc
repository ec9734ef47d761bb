#include "bench/compare/virtual/virtual_run.h"

#include <fmt/format.h>

#include <cmath>

#include "bench/compare/virtual/recorder.h"
#include "bench/compare/virtual/rounds.h"
#include "bench/compare/virtual/server.h"
#include "bench/compare/virtual/stencil.h"
#include "fast/errors.h"
#include "stencil/core/topology.h"

namespace fast::compare {
namespace {

CellResult run_rounds(const Cell& cell, const Split& split, Recorder& recorder) {
  const std::unique_ptr<RoundStrategy> strategy = make_round_strategy(cell, split);
  VirtualWorkers& workers = strategy->workers();
  RoundClock clock(cell, static_cast<double>(workers.weights(0).size_bytes()));
  const auto per_round =
      static_cast<std::uint64_t>(workers.count()) * static_cast<std::uint64_t>(workers.batch());
  const std::uint64_t rounds = (workers.budget() + per_round - 1) / per_round;
  Recorder::Moment moment;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    if (!strategy->round(static_cast<double>(i) / static_cast<double>(rounds), i + 1 == rounds)) {
      return Recorder::diverged(moment);
    }
    clock.tick();
    moment = {static_cast<double>((i + 1) * per_round), clock.seconds(), clock.bytes()};
    recorder.at(moment, workers.budget(), [&] { return workers.all_weights(); });
  }
  return recorder.finish(workers, workers.all_weights(), moment);
}

/// The grid nearest to a square, for strategies that do not use neighbours.
std::string squarest(int workers) {
  for (int side = static_cast<int>(std::sqrt(workers)); side > 1; --side) {
    if (workers % side == 0) return fmt::format("torus:{}x{}", side, workers / side);
  }
  return fmt::format("ring:{}", workers);
}

}  // namespace

CellResult run_virtually(const Cell& cell, const Split& split,
                         const std::function<void(double)>& shown) {
  Recorder recorder(cell, split, shown);
  const std::string& name = cell.strategy.name;
  if (goes_by_rounds(cell.strategy)) return run_rounds(cell, split, recorder);
  if (name == "parameter-server") return run_server(cell, split, recorder);
  return run_stencil(cell, split, recorder);
}

bool learns_by_any_clock(const Cell& cell) {
  return cell.time == TimeKind::kVirtual && goes_by_rounds(cell.strategy);
}

Cell timeless(const Cell& cell) {
  Cell twin = cell;
  if (!learns_by_any_clock(cell)) return twin;
  twin.condition.slow.clear();
  twin.condition.away.clear();
  twin.condition.jitter = 0;
  twin.condition.link_mbit = 0;
  twin.strategy.exchange.bucket_kib = 0;
  if (cell.strategy.name != "stencil-sync") {
    const int workers = stencil::Topology::parse(cell.condition.topology).size();
    twin.condition.topology = squarest(workers);
  }
  return twin;
}

CellResult retimed(const Cell& cell, CellResult twin) {
  RoundClock clock(cell, twin.model_bytes);
  const double per_round = static_cast<double>(cell.workers()) * cell.job.batch;
  double samples = 0;
  const auto advance = [&](double to) {
    while (samples + per_round / 2 < to) {
      clock.tick();
      samples += per_round;
    }
    return clock.seconds();
  };
  for (CurvePoint& point : twin.curve) point.seconds = advance(point.samples);
  twin.training_seconds = advance(twin.samples);
  return twin;
}

}  // namespace fast::compare
