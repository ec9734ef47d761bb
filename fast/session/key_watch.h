#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "fast/session/key_files.h"
#include "stencil/core/types.h"

namespace fast {

/// A worker's keys as its files have them, for a thread that must not wait: the files are looked at
/// by a thread of its own, which is left to itself where nobody waits for it any more. Files that
/// are wrong change nothing and are named in the log. One thread but for that.
class KeyWatch {
 public:
  /// At most so often the files are looked at.
  static constexpr std::chrono::milliseconds kUsualPause{1000};

  /// Reads the files once. Throws as read_keys() does.
  KeyWatch(KeyFiles files, int rank, std::vector<stencil::Rank> neighbours, stencil::LogSink log,
           std::chrono::milliseconds pause = kUsualPause);
  ~KeyWatch();
  KeyWatch(const KeyWatch&) = delete;
  KeyWatch& operator=(const KeyWatch&) = delete;

  /// As found lately; lets the files be looked at for the next time.
  [[nodiscard]] std::shared_ptr<const stencil::KeyRing> current();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
  stencil::LogSink log_;
};

}  // namespace fast
