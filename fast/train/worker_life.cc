#include "fast/train/worker_life.h"

#include <fstream>
#include <string>
#include <utility>

#include "fast/run/atomic_file.h"
#include "fast/session/exchange.h"

namespace fast {

namespace fs = std::filesystem;

WorkerLife::WorkerLife(fs::path folder) : folder_(std::move(folder)) {
  if (!fs::is_directory(folder_)) return;
  lock();
  std::uint64_t last = 0;
  std::ifstream(folder_ / "life") >> last;
  generation_ = last + 1;
}

void WorkerLife::lock() {
  const fs::path file = folder_ / "lock";
  lock_ = LockFile::take(file);
  if (!lock_) {
    throw RefusedError(folder_.string() + " is in use by " + LockFile::holder_of(file) +
                       "; give each worker a rank and a folder of its own, or end that one first");
  }
}

void WorkerLife::settle(const LogSink& log) {
  if (!lock_) lock();
  if (!lock_->locked()) {
    log(LogLevel::kWarning, "the file system of " + folder_.string() +
                                " has no locks: nothing keeps a second worker out of this folder");
  }
  write_atomically(folder_ / "life", std::to_string(generation_) + "\n");
}

}  // namespace fast
