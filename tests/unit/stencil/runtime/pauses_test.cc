// What a boundary waits for, with a neighbour on a wire that the test controls.
#include "stencil/runtime/pauses.h"

#include <gtest/gtest.h>

#include <chrono>

#include "tests/support/engine_pair.h"

namespace stencil {
namespace {

using std::chrono::milliseconds;
using test::EnginePair;

/// Two workers with steps of a second; the boundaries of rank 0 wait.
class PausesTest : public testing::Test {
 protected:
  PausesTest() { pair_.meet(); }

  Pause begin(bool by_parts = false) {
    const Pause pause = pauses_.begin(pair_.now, pair_.standing[0].step + 1, by_parts);
    pair_.standing[0].pause = pause;
    pair_.boundary(0);
    note();
    return pause;
  }
  void note() { pauses_.note(pair_.now, pair_.pump(0).engine()); }
  Pause advance() {
    const Pause pause = pauses_.advance(pair_.now);
    pair_.standing[0].pause = pause;
    pair_.turn(0);
    note();
    return pause;
  }
  /// Both end a step at once, and all is exchanged at once.
  void step_together() {
    pair_.now += milliseconds(1000);
    (void)begin();
    pair_.boundary(1);
    for (int i = 0; i < 3; ++i) {
      pair_.deliver_all();
      note();
      (void)advance();
    }
    ASSERT_EQ(pair_.standing[0].pause, Pause::kNone);
  }
  std::uint64_t offers() { return pair_.counters(0).offers; }

  EnginePair pair_{{.tell_every = milliseconds(5)}};
  Pauses pauses_{0.1, 0.1, pair_.pump(0).engine().config().buckets};
};

TEST_F(PausesTest, knows_nothing_to_wait_for_at_first) {
  EXPECT_EQ(begin(), Pause::kNone);
}

TEST_F(PausesTest, gathers_then_waits_for_its_sweeps_then_goes_on) {
  for (int i = 0; i < 5; ++i) step_together();
  pair_.now += milliseconds(1000);
  const std::uint64_t asked = offers();
  ASSERT_EQ(begin(), Pause::kGathering);
  pair_.deliver_all();
  note();
  EXPECT_FALSE(pauses_.over(pair_.now)) << "the neighbour has not come";
  EXPECT_EQ(offers(), asked) << "sweeps wait for it too";
  EXPECT_EQ(pair_.edge(1).report.steps.count, 6U) << "but it hears of our boundary at once";

  // It announces its boundary and asks for the first bucket; we ask for the others.
  pair_.now += milliseconds(50);
  pair_.boundary(1);
  pair_.wire.deliver(1, 2);
  pair_.turn(0);
  note();
  ASSERT_TRUE(pauses_.over(pair_.now));
  EXPECT_EQ(advance(), Pause::kSweeping);
  EXPECT_EQ(offers(), asked + 2);
  EXPECT_FALSE(pauses_.over(pair_.now)) << "nothing has come back yet";
  pair_.deliver_all();
  note();
  ASSERT_TRUE(pauses_.over(pair_.now));
  EXPECT_EQ(advance(), Pause::kNone);
}

TEST_F(PausesTest, of_a_step_that_asks_by_parts_each_waits_for_its_own_sweeps) {
  for (int i = 0; i < 5; ++i) step_together();
  pair_.now += milliseconds(1000);
  pair_.boundary(1);
  pair_.wire.deliver(1, 2);
  pair_.turn(0);
  note();
  ASSERT_EQ(begin(true), Pause::kSweeping) << "the neighbour is there";
  const std::uint32_t buckets = pair_.pump(0).engine().config().buckets;
  EXPECT_FALSE(pauses_.has_come(pair_.now, 0, buckets));
  std::uint32_t came = 0;
  for (int frames = 0; frames < 100 && !pauses_.has_come(pair_.now, 0, buckets); ++frames) {
    pair_.wire.deliver(0, 1);
    pair_.turn(1);
    pair_.wire.deliver(1, 1);
    pair_.turn(0);
    note();
    std::uint32_t now = 0;
    for (std::uint32_t b = 0; b < buckets; ++b) now += pauses_.has_come(pair_.now, b, b + 1);
    EXPECT_GE(now, came) << "what has come does not go";
    EXPECT_LE(now - came, 1U) << "one bucket with an answer";
    came = now;
  }
  EXPECT_EQ(came, buckets);
  EXPECT_TRUE(pauses_.over(pair_.now));
}

TEST_F(PausesTest, of_a_step_that_asks_by_parts_ends_with_what_is_not_asked_for) {
  for (int i = 0; i < 5; ++i) step_together();
  pair_.now += milliseconds(1000);
  ASSERT_EQ(begin(true), Pause::kGathering) << "all of the last sweeps were back in time";
  pair_.now = pauses_.until();
  ASSERT_EQ(advance(), Pause::kSweeping);
  EXPECT_FALSE(pauses_.has_come(pair_.now, 0, 1));
  pauses_.end(pair_.now);
  EXPECT_TRUE(pauses_.has_come(pair_.now, 0, 1));
  EXPECT_EQ(pauses_.until(), kNever);
  pair_.now += milliseconds(1000);
  EXPECT_NE(begin(true), Pause::kGathering) << "those of this boundary were not";
}

TEST_F(PausesTest, of_a_step_that_asks_by_parts_is_over_for_the_engine_though_nobody_asks) {
  for (int i = 0; i < 5; ++i) step_together();
  pair_.now += milliseconds(1000);
  ASSERT_EQ(begin(true), Pause::kGathering);
  pair_.now = pauses_.until();
  EXPECT_EQ(pauses_.present(pair_.now, Pause::kGathering), Pause::kGathering);
  EXPECT_EQ(pauses_.present(pair_.now, Pause::kSweeping), Pause::kSweeping) << "of the last one";
  ASSERT_EQ(advance(), Pause::kSweeping);
  EXPECT_EQ(pauses_.present(pair_.now, Pause::kSweeping), Pause::kSweeping);
  EXPECT_EQ(pauses_.changes(pair_.now), pauses_.until());
  pair_.now = pauses_.until();
  EXPECT_EQ(pauses_.changes(pair_.now), kNever);
  EXPECT_EQ(pauses_.present(pair_.now, Pause::kSweeping), Pause::kNone);
  EXPECT_EQ(pauses_.advance(pair_.now), Pause::kNone);
  EXPECT_EQ(pauses_.present(pair_.now, Pause::kSweeping), Pause::kNone) << "not told yet";
  pair_.now += milliseconds(1000);
  (void)begin(false);
  EXPECT_EQ(pauses_.present(pair_.now, Pause::kSweeping), Pause::kSweeping);
}

TEST_F(PausesTest, goes_on_without_a_neighbour_that_does_not_come) {
  for (int i = 0; i < 5; ++i) step_together();
  pair_.now += milliseconds(1000);
  ASSERT_EQ(begin(), Pause::kGathering);
  const TimePoint until = pauses_.until();
  EXPECT_LE(until, pair_.now + milliseconds(201));
  pair_.now = until;
  EXPECT_TRUE(pauses_.over(pair_.now));
  EXPECT_EQ(advance(), Pause::kSweeping) << "it may be late and still answer";
  pair_.now += milliseconds(101);
  EXPECT_TRUE(pauses_.over(pair_.now));
  EXPECT_EQ(advance(), Pause::kNone);
}

TEST(Steps, are_counted_and_timed_by_the_neighbour_that_hears_of_them) {
  EnginePair pair({.tell_every = milliseconds(5)});
  pair.meet();
  EXPECT_EQ(pair.edge(0).report.steps.every, Duration(0));
  for (int i = 0; i < 4; ++i) {
    pair.now += milliseconds(300);
    pair.boundary(1);
    pair.deliver_all();
  }
  EXPECT_EQ(pair.edge(0).report.steps.count, 4U);
  EXPECT_EQ(pair.edge(0).report.steps.every, milliseconds(300));
  EXPECT_EQ(pair.edge(0).report.steps.last, pair.now);
  pair.restart(1);
  pair.wire.cut();
  pair.turn(0);
  pair.turn(1);
  pair.meet();
  EXPECT_EQ(pair.edge(0).report.steps.every, Duration(0)) << "a new life may be of another speed";
}

}  // namespace
}  // namespace stencil
