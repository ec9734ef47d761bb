// What a neighbour tells of its model, and what of it a worker believes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <variant>

#include "stencil/engine/engine.h"
#include "tests/support/engine_pair.h"

namespace stencil {
namespace {

using test::EnginePair;
using ::testing::HasSubstr;

/// A liar's word, or that of a damaged checkpoint, ends nobody's training.
TEST(Claims, a_progress_that_no_run_can_have_made_is_not_believed) {
  EnginePair pair;
  for (int i = 0; i < 3; ++i) pair.boundary(0);
  pair.standing[0].stop_joining = false;
  const std::vector<float> own = pair.z(0);
  pair.restart(1, [](EngineConfig& c) {
    c.hello.progress = 1e300;
    c.trained = true;
  });
  pair.meet();
  pair.pass(1);
  EXPECT_EQ(pair.pump(0).status().adopted, 0U);
  EXPECT_EQ(pair.pump(0).status().state, WorkerState::kTraining);
  EXPECT_EQ(pair.z(0), own);
  ASSERT_FALSE(pair.log(0).empty());
  EXPECT_THAT(pair.log(0).front(), HasSubstr("more than this run can have made"));
}

/// It would stall the worker again and again.
TEST(Claims, who_tells_of_a_model_far_ahead_and_does_not_serve_it_is_believed_once) {
  EnginePair pair;
  for (int i = 0; i < 3; ++i) pair.boundary(0);
  pair.standing[0].stop_joining = false;
  pair.restart(1, [](EngineConfig& c) {
    c.hello.progress = 5000;
    c.trained = true;
  });
  const auto tell = [&pair] {
    pair.wire.connect();
    for (int i = 0; i < 100; ++i) {
      pair.turn(1);
      while (pair.wire.under_way(1) > 0) {
        if (pair.wire.front(1).is<Snapshot>()) {
          pair.wire.swallow(1);
        } else {
          pair.wire.deliver(1, 1);
        }
      }
      pair.turn(0);
      pair.wire.deliver(0);
    }
  };
  tell();
  ASSERT_EQ(pair.pump(0).status().state, WorkerState::kJoining) << "it believes what it is told";
  pair.standing[0].stop_joining = true;
  pair.turn(0);
  pair.standing[0].stop_joining = false;
  ASSERT_EQ(pair.pump(0).status().state, WorkerState::kTraining);
  const std::vector<float> own = pair.z(0);
  pair.wire.cut();
  pair.turn(0);
  pair.turn(1);
  tell();
  EXPECT_EQ(pair.pump(0).status().state, WorkerState::kTraining);
  EXPECT_TRUE(pair.edge(0).up());
  EXPECT_EQ(pair.z(0), own) << "nor is it averaged with";
}

/// A bucket that was refused is none that was copied.
TEST(Claims, a_newcomer_asks_again_for_a_bucket_that_was_not_finite) {
  EnginePair pair({.join_at_once = false});
  pair.standing[0].stop_joining = true;
  for (int i = 0; i < 3; ++i) {
    for (float& value : pair.x[0]) value += 1;
    pair.boundary(0);
  }
  pair.wire.connect();
  bool spoilt = false;
  for (int i = 0; i < 100 && !spoilt; ++i) {
    pair.turn(1);
    pair.wire.deliver(1, 1);
    pair.turn(0);
    while (pair.wire.under_way(0) > 0 && !spoilt) {
      Message message = pair.wire.front(0);
      if (Snapshot* const snapshot = std::get_if<Snapshot>(&message.body)) {
        Bytes bytes(view(snapshot->payload).size(), std::byte{0xff});  // NaN
        snapshot->payload = Payload(std::move(bytes));
        pair.wire.swallow(0);
        pair.wire.inject(0, message);
        spoilt = true;
      } else {
        pair.wire.deliver(0, 1);
      }
    }
  }
  ASSERT_TRUE(spoilt);
  pair.settle();
  EXPECT_NE(pair.pump(1).status().state, WorkerState::kTraining);
  pair.pass(30);
  EXPECT_EQ(pair.pump(1).status().joined_from, 0);
  EXPECT_EQ(pair.z(1), pair.z(0));
  EXPECT_EQ(pair.pump(1).status().pump.non_finite, 1U);
}

}  // namespace
}  // namespace stencil
