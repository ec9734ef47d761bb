#include "stencil/io/event_loop.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "stencil/core/error.h"
#include "stencil/threads/thread_check.h"

namespace stencil {
namespace {

/// Counts turns and lets the test wait for one, with a deadline.
class Turns {
 public:
  void count() {
    const std::lock_guard lock(mutex_);
    ++turns_;
    changed_.notify_all();
  }
  [[nodiscard]] bool reached(int turns) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return turns_ >= turns; });
  }
  [[nodiscard]] int value() {
    const std::lock_guard lock(mutex_);
    return turns_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int turns_ = 0;
};

/// A descriptor that the loop does not own.
class Event {
 public:
  Event() : descriptor_(::eventfd(0, EFD_NONBLOCK)) {}
  ~Event() { EXPECT_EQ(::close(descriptor_), 0) << "somebody else has closed it"; }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void set() const { EXPECT_EQ(::eventfd_write(descriptor_, 1), 0); }
  [[nodiscard]] bool take() const {
    eventfd_t value = 0;
    return ::eventfd_read(descriptor_, &value) == 0;
  }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

void no_failure(const std::string& what) {
  ADD_FAILURE() << what;
}

TEST(EventLoop, TheFirstTurnComesByItself) {
  Turns turns;
  EventLoop loop;
  loop.start([&](TimePoint) { return turns.count(), kNever; }, no_failure);
  EXPECT_TRUE(turns.reached(1));
}

TEST(EventLoop, AWakeUpBringsATurnEvenWhenItCameBeforeTheStart) {
  Turns turns;
  EventLoop loop;
  loop.wake();
  loop.start([&](TimePoint) { return turns.count(), kNever; }, no_failure);
  EXPECT_TRUE(turns.reached(2));
  loop.wake();
  EXPECT_TRUE(turns.reached(3));
}

TEST(EventLoop, WakeUpsDuringATurnAreOne) {
  Turns turns;
  Turns released;
  EventLoop loop;
  loop.start(
      [&](TimePoint) {
        turns.count();
        if (turns.value() == 1) {
          EXPECT_TRUE(released.reached(1));
        }
        return kNever;
      },
      no_failure);
  ASSERT_TRUE(turns.reached(1));
  for (int i = 0; i < 1000; ++i) loop.wake();
  released.count();
  ASSERT_TRUE(turns.reached(2));
  loop.stop();
  EXPECT_EQ(turns.value(), 2);
}

TEST(EventLoop, EveryWakeUpIsFollowedByATurnThatSeesWhatWasWrittenBefore) {
  std::atomic<int> written{0};
  std::atomic<int> seen{0};
  Turns caught_up;
  constexpr int kCount = 20000;
  EventLoop loop;
  loop.start(
      [&](TimePoint) {
        seen.store(written.load(std::memory_order_relaxed));
        if (seen.load() == 2 * kCount) caught_up.count();
        return kNever;
      },
      no_failure);
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kCount; ++i) {
        written.fetch_add(1, std::memory_order_relaxed);
        loop.wake();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(caught_up.reached(1)) << "only " << seen.load() << " seen";
}

TEST(EventLoop, ADescriptorThatIsWaitedForBringsATurnAgainAndAgain) {
  Event first, second;
  EventLoop loop;
  Watch watch_first(loop, first.descriptor(), [&] { loop.ask(); });
  Watch watch_second(loop, second.descriptor(), [&] { loop.ask(); });
  Turns takes;
  loop.start(
      [&](TimePoint) {
        if (first.take()) takes.count();
        if (second.take()) takes.count();
        watch_first.wait_readable();
        watch_second.wait_readable();
        return kNever;
      },
      no_failure);
  for (int i = 1; i <= 100; ++i) {
    (i % 2 ? first : second).set();
    EXPECT_TRUE(takes.reached(i));
  }
  loop.stop();
}

TEST(EventLoop, ADescriptorLeftUnreadBringsATurnForEachWait) {
  Turns turns;
  Event event;
  EventLoop loop;
  Watch watch(loop, event.descriptor(), [&] { loop.ask(); });
  event.set();
  loop.start(
      [&](TimePoint) {
        watch.wait_readable();
        watch.wait_readable();  // one wait at a time
        return turns.count(), kNever;
      },
      no_failure);
  EXPECT_TRUE(turns.reached(5));
  loop.stop();
}

TEST(EventLoop, ATurnIsCalledAgainAtTheTimeItAskedFor) {
  Turns turns;
  std::atomic<bool> early{false};
  EventLoop loop;
  loop.start(
      [&, asked = TimePoint::min()](TimePoint now) mutable {
        if (now < asked) early = true;
        turns.count();
        asked = now + std::chrono::milliseconds(1);
        return asked;
      },
      no_failure);
  EXPECT_TRUE(turns.reached(20));
  loop.stop();
  EXPECT_FALSE(early);
}

TEST(EventLoop, AnEarlierTimeReplacesALaterOneAndNeverCancels) {
  Turns turns;
  EventLoop loop;
  loop.start(
      [&, number = 0](TimePoint now) mutable {
        turns.count();
        ++number;
        if (number == 1) return now + std::chrono::hours(1);
        if (number == 2) return now + std::chrono::milliseconds(1);
        return kNever;
      },
      no_failure);
  ASSERT_TRUE(turns.reached(1));
  loop.wake();
  ASSERT_TRUE(turns.reached(3));
  loop.stop();
  EXPECT_EQ(turns.value(), 3);
}

TEST(EventLoop, TimeInThePastMeansAtOnceAndDescriptorsStillCount) {
  Turns takes;
  Event event;
  EventLoop loop;
  Watch watch(loop, event.descriptor(), [&] {
    if (event.take()) takes.count();
  });
  watch.wait_readable();
  loop.start([](TimePoint now) { return now; }, no_failure);
  event.set();
  EXPECT_TRUE(takes.reached(1));
  loop.stop();
}

/// What a loop reports whose turn throws.
std::string reported(EventLoop::Turn turn) {
  Turns reports;
  std::string text;
  EventLoop loop;
  loop.start(std::move(turn), [&](const std::string& what) {
    text = what;
    reports.count();
  });
  EXPECT_TRUE(reports.reached(1));
  loop.stop();
  return text;
}

TEST(EventLoop, AThrowingTurnEndsTheLoopAndIsReported) {
  EXPECT_EQ(reported([](TimePoint) -> TimePoint { throw std::runtime_error("the cause"); }),
            "the cause");
  EXPECT_EQ(reported([](TimePoint) -> TimePoint { throw std::bad_alloc(); }),
            "out of memory; free some, or use a smaller model");
}

TEST(EventLoop, StoppingTwiceOrWithoutAStartIsHarmless) {
  EventLoop never_started;
  never_started.stop();
  EventLoop loop;
  loop.start([](TimePoint) { return kNever; }, no_failure);
  loop.stop();
  loop.stop();
  loop.wake();
}

TEST(EventLoop, WhoHasAThreadOfItsOwnWaitsThere) {
  EventLoop loop;
  const TimePoint now = EventLoop::now();
  EXPECT_FALSE(loop.wait(now)) << "nobody has asked";
  EXPECT_FALSE(loop.wait(now + std::chrono::milliseconds(5)));
  EXPECT_GE(EventLoop::now(), now + std::chrono::milliseconds(5));
  loop.wake();
  EXPECT_TRUE(loop.wait(kNever));
  loop.ask();
  EXPECT_TRUE(loop.wait(kNever));
  EXPECT_FALSE(loop.wait(now)) << "what was asked for has been given";
  std::thread other([&] { loop.wake(); });
  EXPECT_TRUE(loop.wait(kNever));
  other.join();
}

TEST(Watch, SaysNothingAfterItsEndThoughTheEventHadComeBefore) {
  Event first, second;
  EventLoop loop;
  int called = 0;
  std::optional<Watch> watches[2];
  const auto end_the_other = [&](int which) {
    ++called;
    watches[1 - which].reset();
  };
  watches[0].emplace(loop, first.descriptor(), [&] { end_the_other(0); });
  watches[1].emplace(loop, second.descriptor(), [&] { end_the_other(1); });
  for (auto& watch : watches) watch->wait_readable();
  first.set();
  second.set();
  loop.poll();
  EXPECT_EQ(called, 1);
}

TEST(Watch, TellsReadableFromWritable) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
  {
    EventLoop loop;
    int readable = 0, writable = 0;
    Watch watch(
        loop, ends[0], [&] { ++readable; }, [&] { ++writable; });
    watch.wait_readable();
    watch.wait_writable();
    loop.poll();
    EXPECT_EQ(readable, 0);
    EXPECT_EQ(writable, 1);
    ASSERT_EQ(::send(ends[1], "x", 1, 0), 1);
    loop.poll();
    EXPECT_EQ(readable, 1);
    EXPECT_EQ(writable, 1);
  }
  for (const int end : ends) EXPECT_EQ(::close(end), 0) << "somebody else has closed it";
}

TEST(Signal, OfAnyThreadIsHeardOnceAndNotAfterItsEnd) {
  EventLoop loop;
  int heard = 0, late = 0;
  Signal signal(loop, [&] { ++heard; });
  std::optional<Signal> ended;
  ended.emplace(loop, [&] { ++late; });
  std::thread([&] {
    for (int i = 0; i < 1000; ++i) signal.raise();
    ended->raise();
  }).join();
  ended.reset();
  loop.poll();
  EXPECT_EQ(heard, 1);
  EXPECT_EQ(late, 0);
  signal.raise();
  loop.poll();
  EXPECT_EQ(heard, 2);
}

TEST(Alarm, RingsOnceAtTheLastTimeSetUnlessItIsCancelled) {
  EventLoop loop;
  int rung = 0, cancelled = 0;
  Alarm alarm(loop, [&] {
    ++rung;
    loop.ask();
  });
  Alarm other(loop, [&] { ++cancelled; });
  alarm.set_after(std::chrono::hours(1));
  alarm.set(EventLoop::now());
  other.set(EventLoop::now());
  other.cancel();
  EXPECT_TRUE(loop.wait(kNever));
  EXPECT_FALSE(loop.wait_for(std::chrono::milliseconds(5)));
  EXPECT_EQ(rung, 1);
  EXPECT_EQ(cancelled, 0);
}

/// Whether `call` was refused, as it is in builds that check threads; in others it is not made.
template <typename Call>
bool refused(Call call) {
  if constexpr (!kThreadsChecked) return true;
  try {
    call();
  } catch (const InvariantError&) {
    return true;
  }
  return false;
}

TEST(EventLoop, what_belongs_to_its_thread_is_refused_to_others_while_it_runs) {
  Turns turns;
  EventLoop loop;
  Alarm alarm(loop, [] {});
  alarm.set_after(std::chrono::hours(1));  // no thread yet: its owner's
  loop.start([&](TimePoint) { return turns.count(), kNever; }, no_failure);
  ASSERT_TRUE(turns.reached(1));
  EXPECT_TRUE(refused([&] { loop.ask(); }));
  EXPECT_TRUE(refused([&] { loop.poll(); }));
  EXPECT_TRUE(refused([&] { (void)loop.wait(EventLoop::now()); }));
  EXPECT_TRUE(refused([&] { alarm.set(EventLoop::now()); }));
  EXPECT_TRUE(refused([&] { alarm.cancel(); }));
  loop.stop();
  loop.ask();
  alarm.cancel();
}

}  // namespace
}  // namespace stencil
