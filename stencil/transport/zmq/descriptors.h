#pragma once

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "stencil/core/error.h"

namespace stencil {

/// Owns one descriptor.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {
    if (descriptor_ < 0)
      throw ConfigError("cannot make a descriptor", "raise the limit of open files (ulimit -n)");
  }
  ~Descriptor() { ::close(descriptor_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// One descriptor for members that come and go: readable while any of them is. The members stay
/// their owners', and are removed before they are closed.
class DescriptorSet {
 public:
  void add(int member) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, member, &event) != 0)
      throw InvariantError("cannot watch a descriptor");
  }
  void remove(int member) { ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, member, nullptr); }
  [[nodiscard]] int descriptor() const { return epoll_.get(); }

 private:
  Descriptor epoll_{::epoll_create1(EPOLL_CLOEXEC)};
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

}  // namespace stencil
