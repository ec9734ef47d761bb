#pragma once

#include <unistd.h>

#include <utility>

#include "stencil/core/error.h"

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

}  // namespace stencil
