#include "stencil/threads/mutex.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <thread>

namespace stencil {
namespace {

struct Counted {
  Mutex mutex;
  Condition changed;
  std::uint64_t count FAST_GUARDED_BY(mutex) = 0;
};

TEST(Mutex, additions_of_two_threads_under_it_are_all_made) {
  constexpr std::uint64_t kEach = 20000;
  Counted counted;
  const auto add = [&] {
    for (std::uint64_t i = 0; i < kEach; ++i) {
      const MutexLock lock(counted.mutex);
      ++counted.count;
    }
  };
  std::thread other(add);
  add();
  other.join();
  const MutexLock lock(counted.mutex);
  EXPECT_EQ(counted.count, 2 * kEach);
}

TEST(Mutex, unlocked_in_between_it_lets_another_thread_in) {
  Counted counted;
  MutexLock lock(counted.mutex);
  std::thread other([&] {
    const MutexLock inner(counted.mutex);
    ++counted.count;
  });
  lock.unlock();
  other.join();
  lock.lock();
  EXPECT_EQ(counted.count, 1);
}

TEST(Condition, a_wait_ends_with_word_from_another_thread) {
  Counted counted;
  std::thread other([&] {
    const MutexLock lock(counted.mutex);
    counted.count = 7;
    counted.changed.notify_all();
  });
  {
    MutexLock lock(counted.mutex);
    while (counted.count == 0) counted.changed.wait(lock);
    EXPECT_EQ(counted.count, 7);
  }
  other.join();
}

TEST(Condition, a_wait_for_what_never_comes_ends_at_its_time) {
  Counted counted;
  MutexLock lock(counted.mutex);
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
  while (counted.changed.wait_until(lock, until)) {
  }
  EXPECT_GE(std::chrono::steady_clock::now(), until);
}

}  // namespace
}  // namespace stencil
