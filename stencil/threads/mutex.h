#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "stencil/threads/annotations.h"

namespace stencil {

/// A std::mutex whose use clang checks.
class FAST_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

 private:
  friend class MutexLock;
  std::mutex mutex_;
};

/// Holds a Mutex until its end, but between unlock() and lock(). One thread.
class FAST_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) FAST_ACQUIRE(mutex) : lock_(mutex.mutex_) {}
  ~MutexLock() FAST_RELEASE() = default;
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void lock() FAST_ACQUIRE() { lock_.lock(); }
  void unlock() FAST_RELEASE() { lock_.unlock(); }

 private:
  friend class Condition;
  std::unique_lock<std::mutex> lock_;
};

/// Something that threads wait for under a Mutex, in a loop: a wait may end for no reason. (A
/// predicate would be a lambda, in which clang sees no lock.)
class Condition {
 public:
  void notify_all() { changed_.notify_all(); }
  void wait(MutexLock& lock) { changed_.wait(lock.lock_); }
  template <typename Rep, typename Period>
  void wait_for(MutexLock& lock, std::chrono::duration<Rep, Period> longest) {
    changed_.wait_for(lock.lock_, longest);
  }
  /// Returns false where that time has come.
  template <typename Clock, typename Length>
  bool wait_until(MutexLock& lock, std::chrono::time_point<Clock, Length> time) {
    return changed_.wait_until(lock.lock_, time) == std::cv_status::no_timeout;
  }

 private:
  std::condition_variable changed_;
};

}  // namespace stencil
