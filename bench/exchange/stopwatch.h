#pragma once

#include <chrono>

#include "bench/exchange/contender.h"
#include "bench/support/cpu_time.h"
#include "bench/support/own_memory.h"

namespace fast::exchange_bench {

using Clock = std::chrono::steady_clock;

inline double since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

/// For contenders in step: `round` is the whole exchange and blocks its caller.
template <typename Round>
Measured measure_rounds(int rounds, Round round) {
  constexpr int kWarmUp = 3;
  for (int i = 0; i < kWarmUp; ++i) round();
  Measured out;
  const double cpu = cpu_seconds();
  const Clock::time_point begun = Clock::now();
  for (int i = 0; i < rounds; ++i) {
    const Clock::time_point start = Clock::now();
    round();
    out.stalls.push_back(since(start));
  }
  out.seconds = since(begun) / rounds;
  out.cpu_seconds = (cpu_seconds() - cpu) / rounds;
  out.memory_bytes = own_memory();
  return out;
}

}  // namespace fast::exchange_bench
