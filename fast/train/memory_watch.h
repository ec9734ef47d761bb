#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "fast/session/exchange.h"

namespace fast {

/// The memory of a process as /proc/PID/status tells it. Bytes.
struct ProcessMemory {
  std::size_t peak = 0;    ///< the most that was resident
  std::size_t now = 0;     ///< resident
  std::size_t files = 0;   ///< of `now`: programs, libraries and other files
  std::size_t shared = 0;  ///< of `now`: with other processes

  [[nodiscard]] std::size_t own() const {
    const std::size_t others = files + shared;
    return now > others ? now - others : 0;
  }
};

/// Nothing where `status` lacks one of these.
[[nodiscard]] std::optional<ProcessMemory> process_memory(std::string_view status);
/// This process; all 0 where the system does not tell.
[[nodiscard]] ProcessMemory own_memory();

/// Tells the user once where a worker takes more memory than its budget (--memory-budget), whose
/// sum leaves out what nobody can know beforehand: the results of layers while a step is computed.
/// Compares the most that this process has taken, without files and what it shares with other
/// processes, so never more than the budget is about. One thread.
class MemoryWatch {
 public:
  /// What malloc, threads and libraries take beside, which the budget is not about.
  static constexpr std::size_t kBeside = 8'000'000;

  /// `before`: ProcessMemory::own() before data were read and a model made; 0: watches nothing.
  explicit MemoryWatch(std::size_t before) : before_(before) {}

  /// A line where there is one to log.
  [[nodiscard]] std::optional<std::string> look(const Exchange& exchange);
  [[nodiscard]] std::optional<std::string> look(const SessionStatus& status,
                                                const ProcessMemory& memory);

 private:
  std::size_t before_;
  std::size_t most_files_ = 0, most_shared_ = 0;  ///< they may have been there at the peak
  bool told_ = false;
};

}  // namespace fast
