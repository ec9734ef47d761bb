#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "fast/run/atomic_file.h"

namespace fast::exchange_bench {

inline constexpr auto kPatience = std::chrono::seconds(120);

/// Waits for the note `name` of another process. Throws where it does not come.
inline std::string await_note(const std::filesystem::path& meeting, const std::string& name) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < until) {
    std::ifstream in(meeting / name);
    if (std::string text; in >> text) return text;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  throw std::runtime_error("waited 120 s in vain for " + (meeting / name).string() +
                           "; did that process end? its output is above");
}

inline void leave_note(const std::filesystem::path& meeting, const std::string& name,
                       const std::string& text) {
  write_atomically(meeting / name, text + "\n");
}

/// Returns when all processes have called it. Uses files, so that it does not depend on a
/// contender.
inline void await_all(const std::filesystem::path& meeting, const std::string& what, int rank,
                      int workers) {
  leave_note(meeting, what + "-" + std::to_string(rank), "here");
  for (int other = 0; other < workers; ++other) {
    (void)await_note(meeting, what + "-" + std::to_string(other));
  }
}

}  // namespace fast::exchange_bench
