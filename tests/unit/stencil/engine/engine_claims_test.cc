// What a neighbour tells of its model, and what of it a worker believes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "stencil/engine/engine.h"
#include "tests/support/engine_pair.h"

namespace stencil {
namespace {

using test::EnginePair;
using ::testing::ElementsAre;
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

/// One liar would take over the means of all, whatever it is asked or asks.
TEST(Claims, steps_that_no_run_can_have_made_are_not_taken_into_the_mean) {
  EnginePair pair;
  pair.meet();
  pair.telemetry(1)[0] = 1e300;
  for (int i = 0; i < 4; ++i) {
    pair.boundary(i % 2);
    pair.deliver_all();
    for (const Rank rank : {0, 1}) pair.boundary(rank);  // offers that cross
    pair.deliver_all();
  }
  std::vector<double> z(2);
  pair.mixer(0).read_telemetry_z(z);
  EXPECT_LE(std::abs(z[0]), 1e12) << "steps";
  EXPECT_EQ(z[1], 1) << "the scalar beside it";
  EXPECT_EQ(pair.z(0), pair.z(1)) << "the model beside it";
  EXPECT_GE(pair.pump(0).status().pump.claims_refused, 3U);
  EXPECT_THAT(pair.log(0), ElementsAre(HasSubstr("beyond what this run can have made")));
}

/// A newcomer, and one that has trained for very long.
TEST(Claims, honest_steps_of_workers_that_are_far_from_each_other_are_averaged) {
  EnginePair pair;
  pair.meet();
  pair.telemetry(0)[0] = 9e11;
  for (int i = 0; i < 4; ++i) {
    pair.boundary(i % 2);
    pair.deliver_all();
  }
  for (const Rank rank : {0, 1}) {
    std::vector<double> z(2);
    pair.mixer(rank).read_telemetry_z(z);
    EXPECT_NEAR(z[0], 4.5e11, 1);
    EXPECT_EQ(pair.pump(rank).status().pump.claims_refused, 0U);
    EXPECT_TRUE(pair.log(rank).empty());
  }
}

TEST(Claims, a_warning_keeps_none_of_another_cause_from_the_log) {
  EnginePair pair;
  const auto origin = [](Rank rank) {
    return [rank](EngineConfig& c) {
      c.lowest_initial = true;
      c.hello.initial_hash = 100 + static_cast<std::uint64_t>(rank);
    };
  };
  for (const Rank rank : {0, 1}) {
    pair.restart(rank, origin(rank));
    pair.boundary(rank);
  }
  pair.meet();
  pair.pass(3);
  EXPECT_THAT(pair.log(0), ElementsAre(HasSubstr("other initial weights")));
  pair.wire.cut();
  for (const Rank rank : {0, 1}) pair.turn(rank);
  pair.restart(1, [&](EngineConfig& c) {
    origin(1)(c);
    c.hello.progress = 1e300;
    c.trained = true;
  });
  pair.meet();
  EXPECT_THAT(pair.log(0), ElementsAre(HasSubstr("other initial weights"),
                                       HasSubstr("more than this run can have made")));
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

/// Newcomers that both take over the weights of the lowest rank. Rank 0 tells of a hash.
struct Newcomers : EnginePair {
  explicit Newcomers(std::optional<std::uint64_t> told = {})
      : EnginePair({.join_at_once = false, .carried = 7}) {
    for (const Rank rank : {0, 1}) {
      const std::uint64_t hash = start_hash(rank);
      restart(rank, [&](EngineConfig& c) {
        c.lowest_initial = true;
        c.hello.initial_hash = rank == 0 ? told.value_or(hash) : hash;
      });
    }
  }
  /// Delivers all, the `nth` snapshot of rank 0 with another last byte.
  void meet_with_another(int nth) {
    wire.connect();
    for (int i = 0, seen = 0; i < 1000; ++i) {
      turn(1);
      wire.deliver(1);
      turn(0);
      while (wire.under_way(0) > 0) {
        Message message = wire.front(0);
        Snapshot* const snapshot = std::get_if<Snapshot>(&message.body);
        if (snapshot == nullptr || ++seen != nth) {
          wire.deliver(0, 1);
          continue;
        }
        const std::span<const std::byte> bytes = view(snapshot->payload);
        Bytes other(bytes.begin(), bytes.end());
        other.front() ^= std::byte{1};
        snapshot->payload = Payload(std::move(other));
        const std::size_t behind = wire.under_way(0) - 1;
        wire.swallow(0);
        wire.inject(0, message);
        wire.deliver(0, behind + 1);
      }
      turn(1);
    }
  }
};

TEST(Claims, initial_weights_that_are_not_those_that_were_told_of_are_not_taken_over) {
  Newcomers pair(/*told=*/0xbad);
  const std::vector<float> own = pair.z(1);
  const auto carried = pair.carried(1);
  pair.meet();
  pair.pass(3);
  EXPECT_EQ(pair.z(1), own);
  EXPECT_EQ(pair.carried(1), carried);
  EXPECT_EQ(pair.pump(1).status().adopted, 0U);
  EXPECT_EQ(pair.counters(1).start_refused, 3U) << "asked for anew twice, then no more";
  ASSERT_EQ(pair.log(1).size(), 1U);
  EXPECT_THAT(pair.log(1).front(), HasSubstr("not those that it tells of"));
  EXPECT_EQ(pair.pump(1).status().state, WorkerState::kJoining) << "others may bring them";
  pair.standing[1].stop_joining = true;
  pair.turn(1);
  EXPECT_EQ(pair.pump(1).status().state, WorkerState::kTraining);
  EXPECT_EQ(pair.z(1), own);
}

/// 4 values and 7 carried bytes: snapshots 1, 2 and 4 to 6; the third is the telemetry.
TEST(Claims, initial_weights_that_came_damaged_are_asked_for_anew) {
  for (const int damaged : {1, 2, 4, 6}) {
    Newcomers pair;
    const std::vector<float> lowest = pair.z(0);
    const auto carried = pair.carried(0);
    pair.meet_with_another(damaged);
    EXPECT_EQ(pair.z(1), lowest) << damaged;
    EXPECT_EQ(pair.carried(1), carried) << damaged;
    EXPECT_EQ(pair.counters(1).start_refused, 1U) << damaged;
    EXPECT_EQ(pair.pump(1).status().state, WorkerState::kTraining);
  }
  Newcomers pair;
  pair.meet_with_another(3);
  EXPECT_EQ(pair.counters(1).start_refused, 0U) << "telemetry is none of the weights";
}

/// What a worker that has begun shows may be averaged already, before its own first step.
TEST(Claims, a_neighbour_that_has_begun_and_shows_other_values_is_copied_after_its_step) {
  Newcomers pair(/*told=*/0xbad);
  pair.standing[0].stop_joining = true;
  pair.turn(0);
  pair.meet();
  pair.pass(3);
  EXPECT_EQ(pair.pump(1).status().state, WorkerState::kJoining);
  EXPECT_EQ(pair.counters(1).start_refused, 0U);
  EXPECT_TRUE(pair.log(1).empty());
  pair.boundary(0);
  pair.pass(3);
  EXPECT_EQ(pair.pump(1).status().joined_from, 0);
  EXPECT_EQ(pair.z(1), pair.z(0));
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
  pair.deliver_all();
  EXPECT_NE(pair.pump(1).status().state, WorkerState::kTraining);
  pair.pass(30);
  EXPECT_EQ(pair.pump(1).status().joined_from, 0);
  EXPECT_EQ(pair.z(1), pair.z(0));
  EXPECT_EQ(pair.pump(1).status().pump.non_finite, 1U);
}

}  // namespace
}  // namespace stencil
