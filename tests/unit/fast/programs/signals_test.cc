// Which signals ask a program to end, how often, and which do not.
#include "fast/programs/launch/signals.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
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
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  std::thread before([end = ends[0]] {
    char unused = 0;
    EXPECT_EQ(read(end, &unused, 1), 0) << "goes on to read";
  });
  {
    SignalQueue signals(true);
    for (const int signal : {SIGTERM, SIGCHLD, SIGTERM}) {
      ASSERT_EQ(kill(getpid(), signal), 0);
      pollfd wait{signals.descriptor(), POLLIN, 0};
      ASSERT_EQ(poll(&wait, 1, 30'000), 1);
      EXPECT_EQ(signals.next(), signal);
    }
  }
  close(ends[1]);
  before.join();
  close(ends[0]);
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
