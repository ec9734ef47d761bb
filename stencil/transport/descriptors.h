#pragma once

#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "stencil/core/error.h"
#include "stencil/core/types.h"

namespace stencil {

/// Owns one descriptor. Movable.
class Descriptor {
 public:
  /// Throws ResourceError where the system has not given one.
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {
    if (descriptor_ < 0)
      throw ResourceError("cannot make a descriptor", "raise the limit of open files (ulimit -n)");
  }
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  [[nodiscard]] int get() const { return descriptor_; }
  /// Somebody else closes it from now on.
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

/// A descriptor that is readable while set. One thread.
class Flag {
 public:
  void set() {
    if (!set_) ::eventfd_write(event_.get(), 1);
    set_ = true;
  }
  void clear() {
    eventfd_t value = 0;
    if (set_) ::eventfd_read(event_.get(), &value);
    set_ = false;
  }
  [[nodiscard]] int descriptor() const { return event_.get(); }

 private:
  Descriptor event_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  bool set_ = false;
};

/// A descriptor that becomes readable when a time has passed, until acknowledged.
class Timer {
 public:
  void arm(Duration after) {
    const auto nanoseconds = after.count() > 0 ? after.count() : 1;
    set(nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000);
  }
  void disarm() { set(0, 0); }
  void acknowledge() const {
    std::uint64_t times = 0;
    [[maybe_unused]] const auto read = ::read(timer_.get(), &times, sizeof times);
  }
  [[nodiscard]] int descriptor() const { return timer_.get(); }

 private:
  void set(std::int64_t seconds, std::int64_t nanoseconds) {
    itimerspec when{};
    when.it_value = {static_cast<time_t>(seconds), static_cast<long>(nanoseconds)};
    ::timerfd_settime(timer_.get(), 0, &when, nullptr);
  }
  Descriptor timer_{::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)};
};

}  // namespace stencil
