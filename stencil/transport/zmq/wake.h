#pragma once

#include <sys/eventfd.h>

#include <atomic>

#include "stencil/transport/descriptors.h"

namespace stencil {

/// A descriptor that is readable from wake() to clear(). Any thread wakes; one waits and clears.
class Wake {
 public:
  void wake() noexcept {
    if (!set_.exchange(true, std::memory_order_acq_rel)) ::eventfd_write(event_.get(), 1);
  }
  /// What was done before a wake() that this clears is seen after it.
  void clear() noexcept {
    eventfd_t value = 0;
    ::eventfd_read(event_.get(), &value);
    set_.exchange(false, std::memory_order_acq_rel);
  }
  [[nodiscard]] int descriptor() const { return event_.get(); }

 private:
  Descriptor event_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::atomic<bool> set_{false};
};

}  // namespace stencil
