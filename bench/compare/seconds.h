#pragma once

#include <fmt/format.h>

#include <chrono>
#include <string>

namespace fast::compare {

[[nodiscard]] inline double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// "42 s", "7 min", "2.5 h".
[[nodiscard]] inline std::string readable(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace fast::compare
