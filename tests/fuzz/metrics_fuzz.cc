#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fast/run/metrics.h"
#include "fast/run/totals.h"

// An untrusted metrics.jsonl: it never throws, and lives lie inside the history.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fast::WorkerHistory history =
      fast::parse_metrics({reinterpret_cast<const char*>(data), size});
  if (history.starts != static_cast<int>(history.lives.size())) std::abort();
  for (const auto& life : history.lives) {
    if (life.first_progress > history.progress.size()) std::abort();
  }
  (void)fast::totals_of(history);
  return 0;
}
