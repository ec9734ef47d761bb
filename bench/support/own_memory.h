#pragma once

#include <fstream>
#include <string>

/// Bytes of memory that this process has written or shares with others; shared pages count
/// proportionally. Programs and libraries on disk do not count.
inline double own_memory() {
  std::ifstream in("/proc/self/smaps_rollup");
  double kilobytes = 0;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("Pss_Anon:") && !line.starts_with("Pss_Shmem:")) continue;
    kilobytes += std::stod(line.substr(line.find(':') + 1));
  }
  return 1024 * kilobytes;
}
