#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace stencil {

/// A few threads that share one thread's loops over the buckets of a large model. They sleep in
/// between. each() allocates nothing and does not wait for a helper that has not begun; a late
/// helper finds the work done.
///
/// each() belongs to one thread at a time; work must not throw.
class Team {
 public:
  /// `threads` counts the caller's.
  explicit Team(int threads);
  ~Team();

  /// Calls work(i) once for each i below `count`, on any of the threads, in no order; returns when
  /// all calls have.
  template <typename Work>
  void each(std::uint32_t count, Work& work) {
    run({[](void* context, std::uint32_t i) { (*static_cast<Work*>(context))(i); }, &work, count});
  }

 private:
  struct Job {
    void (*call)(void*, std::uint32_t) = nullptr;
    void* context = nullptr;
    std::uint32_t count = 0;
  };
  /// Set in inside_ while there is no work for a helper to begin.
  static constexpr std::uint32_t kClosed = 1U << 31;

  void run(const Job& job);
  void help();
  void take_part();
  [[nodiscard]] bool enter();

  Job job_;  ///< constant while inside_ is not kClosed
  std::atomic<std::uint32_t> next_{0};
  std::atomic<std::uint32_t> inside_{kClosed};  ///< helpers at work
  std::atomic<std::uint32_t> calls_{0};         ///< changes to wake the helpers
  std::atomic<bool> over_{false};
  std::vector<std::thread> helpers_;
};

}  // namespace stencil
