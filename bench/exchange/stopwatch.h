#pragma once

#include <sys/resource.h>

#include <chrono>

#include "bench/exchange/contender.h"

namespace fast::exchange_bench {

using Clock = std::chrono::steady_clock;

inline double since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

/// CPU time of this process so far, all threads, user and system.
inline double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// For those who go in step: `round` is the whole exchange, and holds up whoever calls it.
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
  return out;
}

}  // namespace fast::exchange_bench
