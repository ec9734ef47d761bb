#pragma once

#include <cstdint>
#include <functional>

#include "stencil/transport/descriptors.h"

namespace stencil {

/// A descriptor that is waited on; keeps its address while it is watched.
struct Source {
  int descriptor = -1;
  std::function<void(std::uint32_t)> on_events;  ///< with epoll's events
  bool watched = false;
};

/// Descriptors that are waited on together. One thread.
class SourceSet {
 public:
  /// `interest`: EPOLLIN and so on. Throws InvariantError where epoll does not take it.
  void watch(Source& source, int descriptor, std::uint32_t interest,
             std::function<void(std::uint32_t)> on_events);
  void unwatch(Source& source);
  /// Lets every source that has something note it; waits for one so long. False: none has.
  bool poll(int milliseconds);
  /// Readable when poll() has something to do.
  [[nodiscard]] int descriptor() const { return epoll_.get(); }

 private:
  static Descriptor make();
  Descriptor epoll_ = make();
};

}  // namespace stencil
