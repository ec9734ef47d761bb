// Which signals ask a program to end, how often, and which do not.
#include "fast/programs/launch/signals.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <semaphore.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <thread>

namespace fast {
namespace {

using std::chrono::milliseconds;
using Meaning = StopRequests::Meaning;

TEST(StopRequestsTest, WhatComesWithinTwoSecondsOfTheFirstIsTheSameRequest) {
  const StopRequests::Clock::time_point start{};
  StopRequests requests;
  EXPECT_EQ(requests.on_signal(start), Meaning::kFirst);
  EXPECT_EQ(requests.on_signal(start), Meaning::kSame);
  EXPECT_EQ(requests.on_signal(start + milliseconds(1999)), Meaning::kSame);
  EXPECT_EQ(requests.on_signal(start + milliseconds(2000)), Meaning::kAgain);
  EXPECT_EQ(requests.on_signal(start + milliseconds(2001)), Meaning::kAgain);
}

TEST(SignalQueueTest, WhatWasIgnoredAtTheStartStaysIgnored) {
  struct sigaction ignore {
  }, old{};
  ignore.sa_handler = SIG_IGN;
  ASSERT_EQ(sigaction(SIGHUP, &ignore, &old), 0);
  {
    SignalQueue signals(false);
    ASSERT_EQ(kill(getpid(), SIGHUP), 0);
    ASSERT_EQ(kill(getpid(), SIGTERM), 0);
    pollfd wait{signals.descriptor(), POLLIN, 0};
    ASSERT_EQ(poll(&wait, 1, 30'000), 1);
    EXPECT_EQ(signals.next(), SIGTERM);
    EXPECT_EQ(signals.next(), 0);
  }
  sigaction(SIGHUP, &old, nullptr);
}

TEST(SignalQueueTest, TakesThoseToAThreadThatWasThereBefore) {
  sem_t end;
  ASSERT_EQ(sem_init(&end, 0, 0), 0);
  // The thread sanitizer runs a handler at once in a wait that it knows to be one, as sem_wait()
  // is.
  std::thread before([&end] {
    while (sem_wait(&end) != 0 && errno == EINTR) {
    }
  });
  {
    SignalQueue signals(true);
    for (const int signal : {SIGTERM, SIGCHLD, SIGTERM}) {
      EXPECT_EQ(kill(getpid(), signal), 0);
      pollfd wait{signals.descriptor(), POLLIN, 0};
      int taken = 0;  // the other thread may have it for a moment, though the queue had it already
      while (taken == 0 && poll(&wait, 1, 30'000) == 1) taken = signals.next();
      EXPECT_EQ(taken, signal);
    }
  }
  sem_post(&end);
  before.join();
  sem_destroy(&end);
}

TEST(StopOnSignalTest, AskingForARecordingStopsNothing) {
  std::atomic<bool> stop = false, asked = false;
  const StopOnSignal watch(stop, true, [&asked] { asked = true; });
  ASSERT_EQ(kill(getpid(), SIGUSR1), 0);
  while (!asked) std::this_thread::yield();  // ctest has the deadline
  EXPECT_FALSE(stop);
}

TEST(WritesMayFailTest, WritingToAClosedPipeFailsAndEndsNobody) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  close(ends[0]);
  const WritesMayFail writes;
  EXPECT_EQ(write(ends[1], "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  close(ends[1]);
}

}  // namespace
}  // namespace fast
