#include "bench/compare/report/ceiling.h"

#include "bench/compare/virtual/timing.h"

namespace fast::compare {

std::optional<double> speedup_ceiling(const Cell& cell, double model_bytes) {
  constexpr int kRounds = 1000;  // enough to average out jitter
  if (cell.clockwork.step_seconds <= 0 || model_bytes <= 0) return std::nullopt;
  Cell reduced = cell;
  reduced.strategy.name = "allreduce";
  reduced.strategy.exchange.bucket_kib = 0;
  RoundClock clock(reduced, model_bytes);
  StepTimes times(reduced);
  double rate = 0;  // steps per second, all workers together
  for (int rank = 0; rank < reduced.workers(); ++rank) {
    double seconds = 0;
    for (int i = 0; i < kRounds; ++i) seconds += times.next(rank);
    rate += kRounds / seconds;
  }
  for (int i = 0; i < kRounds; ++i) clock.tick();
  return rate * clock.seconds() / (static_cast<double>(kRounds) * reduced.workers());
}

}  // namespace fast::compare
