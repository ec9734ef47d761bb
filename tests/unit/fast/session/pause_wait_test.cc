#include "fast/session/pause_wait.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "stencil/io/event_loop.h"
#include "tests/support/engine_pair.h"

namespace fast {
namespace {

using std::chrono::milliseconds;
using stencil::Pause;

/// Two workers with steps of a second, an hour ahead of the clock: no pause of theirs ends by time.
class PauseWaitTest : public testing::Test {
 protected:
  PauseWaitTest() {
    pair_.now = stencil::EventLoop::now() + std::chrono::hours(1);
    pair_.meet();
  }
  Pause tell(Pause pause) {
    pair_.standing[0].pause = pause;
    pair_.turn(0);
    wait_.note(pair_.now, pair_.pump(0).engine());
    return pause;
  }
  Pause begin(bool by_parts = false) {
    pair_.now += milliseconds(1000);
    const Pause pause = pauses_.begin(pair_.now, ++pair_.standing[0].step, by_parts);
    return tell(pause);
  }
  Pause advance() { return tell(pauses_.advance(pair_.now)); }
  /// Both end a step at once, and all is exchanged at once.
  void step_together() {
    (void)begin();
    pair_.boundary(1);
    for (int i = 0; i < 3; ++i) {
      pair_.deliver_all();
      wait_.note(pair_.now, pair_.pump(0).engine());
      (void)advance();
    }
  }

  stencil::test::EnginePair pair_{{.tell_every = milliseconds(5)}};
  stencil::Pauses pauses_{0.1, 0.1, pair_.pump(0).engine().config().buckets};
  PauseWait wait_{pauses_};
};

TEST_F(PauseWaitTest, ends_when_what_the_pause_waits_for_is_noted) {
  for (int i = 0; i < 5; ++i) step_together();
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(begin(), Pause::kGathering);
    pair_.deliver_all();
    pair_.boundary(1);
    pair_.wire.deliver(1, 2);
    (void)tell(Pause::kGathering);
    ASSERT_EQ(advance(), Pause::kSweeping);
    ASSERT_FALSE(pauses_.over(pair_.now));
    std::thread training([&] { wait_.wait(); });
    pair_.deliver_all();
    wait_.note(pair_.now, pair_.pump(0).engine());
    training.join();
    EXPECT_EQ(advance(), Pause::kNone);
  }
}

TEST_F(PauseWaitTest, for_a_part_ends_when_what_its_sweeps_bring_is_noted) {
  for (int i = 0; i < 5; ++i) step_together();
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(begin(true), Pause::kGathering);
    pair_.deliver_all();
    pair_.boundary(1);
    pair_.wire.deliver(1, 2);  // it asks for the first bucket
    (void)tell(Pause::kGathering);
    ASSERT_EQ(advance(), Pause::kSweeping);
    const auto has_come = [&, now = pair_.now] { return pauses_.has_come(now, 1, 2); };
    ASSERT_FALSE(has_come());
    std::thread training([&] { wait_.wait(has_come); });
    pair_.deliver_all();
    wait_.note(pair_.now, pair_.pump(0).engine());
    training.join();
    EXPECT_EQ(advance(), Pause::kNone);
  }
}

}  // namespace
}  // namespace fast
