#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "fast/options/key_files.h"
#include "stencil/core/types.h"

namespace fast {

/// A worker's keys as its files have them, for a thread that must not block. A detached thread
/// reads the files; it outlives this object where a read hangs. Files with errors change nothing
/// and are logged. One thread calls the methods.
class KeyWatch {
 public:
  /// The shortest time between two looks at the files.
  static constexpr std::chrono::milliseconds kUsualPause{1000};

  /// Reads the files once. Throws as read_keys() does.
  KeyWatch(KeyFiles files, int rank, std::vector<stencil::Rank> neighbours, stencil::LogSink log,
           std::chrono::milliseconds pause = kUsualPause);
  ~KeyWatch();
  KeyWatch(const KeyWatch&) = delete;
  KeyWatch& operator=(const KeyWatch&) = delete;

  /// Those that must have keys from now on.
  void follow(std::vector<stencil::Rank> neighbours);

  /// The keys as last read. Starts a new look at the files for the next call.
  [[nodiscard]] std::shared_ptr<const stencil::KeyRing> current();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
  stencil::LogSink log_;
};

}  // namespace fast
