#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stencil {

/// Which buckets of x the training thread has lent to the background thread between two uses: see
/// Mixer::lend(). Each is one thread's at any time.
class Lent {
 public:
  explicit Lent(std::size_t buckets) : states_(buckets) {}

  // Training thread.
  void lend(std::uint32_t bucket) {
    states_[bucket] = kLent;
    any_ = true;
  }
  /// Returns when the bucket is the training thread's: after one pass over it at the latest, where
  /// the background thread is in it.
  void take_back(std::uint32_t bucket) {
    std::uint32_t state = kLent;
    while (!states_[bucket].compare_exchange_weak(state, kOwn) && state != kOwn) {
      if (state == kInUse) states_[bucket].wait(kInUse);
      state = kLent;
    }
  }
  /// All were taken back.
  void none() { any_ = false; }

  // Background thread.
  /// False: it is the training thread's.
  [[nodiscard]] bool use(std::uint32_t bucket) {
    std::uint32_t state = kLent;
    return states_[bucket].compare_exchange_strong(state, kInUse);
  }
  void leave(std::uint32_t bucket) {
    states_[bucket] = kLent;
    states_[bucket].notify_one();
  }

  // Any thread: as of some moment.
  [[nodiscard]] bool any() const { return any_; }
  [[nodiscard]] bool is_lent(std::uint32_t bucket) const { return states_[bucket] == kLent; }

 private:
  enum State : std::uint32_t { kOwn, kLent, kInUse };

  std::vector<std::atomic<std::uint32_t>> states_;
  std::atomic<bool> any_{false};
};

}  // namespace stencil
