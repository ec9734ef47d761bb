#include "fast/programs/launch/threads.h"

#include <fmt/format.h>

#include <cstddef>
#include <latch>
#include <system_error>
#include <utility>
#include <vector>

#include "stencil/core/error.h"

namespace fast {

std::thread start_thread(std::function<void()> work) {
  return std::thread(std::move(work));
}

void check_threads(const std::string& who, int needed, const StartThread& start) {
  std::latch end(1);
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(needed));
  std::string error;
  try {
    while (threads.size() < static_cast<std::size_t>(needed)) {
      threads.push_back(start([&end] { end.wait(); }));
    }
  } catch (const std::system_error& failure) {
    error = failure.what();
  }
  end.count_down();
  for (std::thread& thread : threads) thread.join();
  if (error.empty()) return;
  throw stencil::ResourceError(
      fmt::format("{} takes {} threads more, and no more than {} can be started: {}", who, needed,
                  threads.size(), error),
      "raise the limit of processes (ulimit -u), of memory (ulimit -v) or of the container (pids), "
      "or use fewer --threads");
}

}  // namespace fast
