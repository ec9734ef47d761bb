#pragma once

#include <sys/resource.h>
#include <unistd.h>

namespace fast::testing {

/// During its lifetime this process can open no further descriptor (EMFILE).
/// The undefined-behaviour sanitizer opens a pipe to look at an object's memory and takes an object
/// for invalid without one; tests of this are therefore left out of the preset asan.
class NoDescriptorsLeft {
 public:
  NoDescriptorsLeft() {
    const int next = ::dup(STDERR_FILENO);
    ::close(next);
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{.rlim_cur = static_cast<rlim_t>(next), .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptorsLeft() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptorsLeft(const NoDescriptorsLeft&) = delete;
  NoDescriptorsLeft& operator=(const NoDescriptorsLeft&) = delete;

 private:
  rlimit before_{};
};

}  // namespace fast::testing
