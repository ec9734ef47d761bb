#pragma once

#include <sys/resource.h>

/// CPU time so far in seconds, user and system: of this process with all its threads, or of the
/// calling thread alone (RUSAGE_THREAD).
inline double cpu_seconds(int who = RUSAGE_SELF) {
  rusage usage{};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}
