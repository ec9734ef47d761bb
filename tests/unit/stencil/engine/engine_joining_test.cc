// How two workers meet: what has to agree, and how a newcomer joins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stencil/engine/engine.h"
#include "stencil/mix/codecs/kinds.h"
#include "tests/support/engine_pair.h"

namespace stencil {
namespace {

using test::EnginePair;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct Field {
  std::string name;
  std::function<void(EngineConfig&)> change;
  std::string ours, theirs;
};

class Mismatch : public ::testing::TestWithParam<int> {};

const std::vector<Field>& fields() {
  static const std::vector<Field> all = {
      {"protocol", [](EngineConfig& c) { c.hello.protocol = 77; }, std::to_string(kProtocolVersion),
       "77"},
      {"run id", [](EngineConfig& c) { c.hello.run_id = "other"; }, "'pair'", "'other'"},
      {"topology", [](EngineConfig& c) { c.hello.topology = "ring:3"; }, "ring:2", "ring:3"},
      {"layout", [](EngineConfig& c) { c.hello.layout_hash = 0x1234; }, "ours ", "1234"},
      {"mode", [](EngineConfig& c) { c.hello.mode = "bounded:2"; }, "async", "bounded:2"},
      {"codec", [](EngineConfig& c) { c.hello.codec = parse_codec("fp16"); }, "codec", "codec"},
      {"share", [](EngineConfig& c) { c.hello.codec = parse_codec("topk:0.02"); }, "fp32",
       "topk:0.02"},
      {"term",
       [](EngineConfig& c) {
         c.terms = {{"budget", "30 samples"}};
       },
       "not given", "30 samples"},
      {"term before layout",
       [](EngineConfig& c) {
         c.terms = {{"model", "mlp"}};
         c.hello.layout_hash = 0x1234;
       },
       "not given", "mlp"},
      {"initial", [](EngineConfig& c) { c.hello.initial_hash = 0xdef; }, "abc", "def"},
  };
  return all;
}

TEST_P(Mismatch, is_named_at_both_ends_with_both_values_and_ends_the_one_that_dialled) {
  const Field& field = fields()[static_cast<std::size_t>(GetParam())];
  SCOPED_TRACE(field.name);
  EnginePair pair({.keys = true});
  pair.restart(1, field.change);
  pair.meet();
  pair.pass(1);
  for (const Rank rank : {0, 1}) {
    ASSERT_FALSE(pair.log(rank).empty());
    const std::string& said = pair.log(rank).front();
    const bool stranger = rank == 1 && field.name == "run id";  // learns no value of ours
    EXPECT_THAT(said, HasSubstr(stranger ? "theirs is not told" : field.ours)) << rank;
    EXPECT_THAT(said, HasSubstr(field.theirs)) << rank;
    EXPECT_THAT(said, HasSubstr("differs")) << rank;
    EXPECT_FALSE(pair.edge(rank).up());
  }
  EXPECT_THAT(pair.pump(0).status().turned_away, HasSubstr(field.theirs));
  EXPECT_THAT(pair.pump(1).status().refused, HasSubstr(field.theirs));
  pair.boundary(0);
  EXPECT_EQ(pair.counters(0).offers, 0U);
}

/// Whoever dials may be a stranger.
TEST_P(Mismatch, is_named_without_a_value_of_ours_to_one_that_has_proven_nothing) {
  const Field& field = fields()[static_cast<std::size_t>(GetParam())];
  if (field.name == "protocol") return;  // each header carries it
  SCOPED_TRACE(field.name);
  EnginePair pair;
  pair.restart(0, [](EngineConfig& c) { c.terms = {{"budget", "40 samples"}, {"model", "cnn"}}; });
  pair.restart(1, field.change);
  pair.meet();
  pair.pass(1);
  ASSERT_FALSE(pair.log(1).empty());
  EXPECT_THAT(pair.log(1).front(), AllOf(HasSubstr("differs"), HasSubstr("theirs is not told")));
  ASSERT_FALSE(pair.log(0).empty());
  EXPECT_THAT(pair.log(0).front(), AllOf(HasSubstr("differs"), HasSubstr("ours ")));
}

INSTANTIATE_TEST_SUITE_P(Fields, Mismatch, ::testing::Range(0, 10));

/// Its count of lives was lost, or its clock went back: neither decides for good.
TEST(Lives, whoever_is_taken_for_older_greets_again_above_what_is_known) {
  EnginePair pair;
  for (int life = 0; life < 4; ++life) pair.restart(1);
  pair.meet();
  ASSERT_TRUE(pair.edge(0).up());
  const std::uint64_t known = pair.edge(0).life.generation;
  pair.restart(1, [](EngineConfig& c) {
    c.hello.generation = 1;
    c.hello.life = {7, 7};
  });
  pair.meet();
  EXPECT_TRUE(pair.edge(0).up());
  EXPECT_TRUE(pair.edge(1).up());
  EXPECT_GT(pair.edge(0).life.generation, known);
  EXPECT_EQ(pair.edge(0).life.id, (LifeId{7, 7}));
}

TEST(Joining, newcomers_begin_together_once_all_neighbours_are_heard) {
  EnginePair pair({.join_at_once = false});
  EXPECT_EQ(pair.pump(0).status().state, WorkerState::kJoining);
  pair.meet();
  for (const Rank rank : {0, 1}) {
    EXPECT_EQ(pair.pump(rank).status().state, WorkerState::kTraining);
    EXPECT_EQ(pair.pump(rank).status().joined_from, kNoRank);
  }
}

/// Connects, and lets rank 1 copy so many buckets and no more.
bool copy(EnginePair& pair, std::uint64_t buckets) {
  pair.wire.connect();
  for (int i = 0; i < 100 && pair.pump(1).status().copied < buckets; ++i) {
    pair.turn(1);
    pair.wire.deliver(1, 1);
    pair.turn(0);
    pair.wire.deliver(0, 1);
    pair.turn(1);
  }
  return pair.pump(1).status().copied == buckets;
}

TEST(Joining, who_comes_late_copies_an_established_neighbour) {
  EnginePair pair;
  for (int i = 0; i < 3; ++i) pair.boundary(0);
  pair.restart(1);
  pair.standing[1].stop_joining = false;
  // restart() let it begin at once; another life that waits:
  EnginePair late({.join_at_once = false});
  late.standing[0].stop_joining = true;
  for (int i = 0; i < 3; ++i) late.boundary(0);
  late.meet();
  EXPECT_EQ(late.pump(1).status().joined_from, 0);
  EXPECT_EQ(late.z(1), late.z(0));
  EXPECT_EQ(late.pump(1).status().state, WorkerState::kTraining);
}

TEST(Joining, a_source_that_breaks_off_mid_copy_is_asked_again_when_it_returns) {
  EnginePair pair({.join_at_once = false});
  pair.standing[0].stop_joining = true;
  for (int i = 0; i < 3; ++i) pair.boundary(0);
  pair.wire.connect();
  while (pair.counters(0).stale_frames == 0 && pair.wire.under_way(0) < 3) {
    pair.turn(1);
    pair.wire.deliver(1, 1);
    pair.turn(0);
    if (pair.wire.under_way(0) > 0 && pair.wire.front(0).is<Snapshot>()) break;
    pair.wire.deliver(0, 1);
    pair.turn(1);
  }
  pair.wire.deliver(0, 1);
  pair.turn(1);
  EXPECT_EQ(pair.pump(1).status().state, WorkerState::kJoining);
  pair.wire.cut();
  pair.turn(0);
  pair.turn(1);
  pair.pass(2);
  EXPECT_EQ(pair.pump(1).status().state, WorkerState::kJoining);
  pair.meet();
  EXPECT_EQ(pair.pump(1).status().joined_from, 0);
  EXPECT_EQ(pair.z(1), pair.z(0));
}

/// Half of a neighbour's model is no model: a worker that gives up in the middle of a copy keeps
/// its own.
TEST(Joining, who_gives_up_in_the_middle_of_a_copy_begins_with_its_own_model) {
  EnginePair pair({.join_at_once = false});
  pair.standing[0].stop_joining = true;
  for (int i = 0; i < 3; ++i) {
    for (float& value : pair.x[0]) value += 1;
    pair.boundary(0);
  }
  const std::vector<float> own = pair.z(1);
  ASSERT_TRUE(copy(pair, 1));
  ASSERT_EQ(pair.pump(1).status().state, WorkerState::kJoining);
  ASSERT_NE(pair.z(1), own);
  pair.standing[1].stop_joining = true;
  pair.turn(1);
  EXPECT_EQ(pair.pump(1).status().state, WorkerState::kTraining);
  EXPECT_EQ(pair.pump(1).status().joined_from, kNoRank);
  EXPECT_EQ(pair.z(1), own);
  const double sum = pair.sum();
  pair.meet();
  for (int i = 0; i < 4; ++i) {
    pair.boundary(0);
    pair.boundary(1);
    pair.deliver_all();
  }
  EXPECT_NEAR(pair.sum(), sum, 1e-5);
  EXPECT_EQ(pair.z(1), pair.z(0));
}

TEST(Joining, a_newcomer_whose_neighbours_have_all_left_begins_alone) {
  EnginePair pair({.join_at_once = false});
  pair.standing[0].stop_joining = true;
  for (int i = 0; i < 3; ++i) pair.boundary(0);
  pair.wire.connect();
  for (int i = 0; i < 10 && !pair.edge(1).up(); ++i) {
    pair.turn(1);
    pair.wire.deliver(1);
    pair.turn(0);
    pair.wire.deliver(0, 1);
    pair.turn(1);
  }
  ASSERT_TRUE(pair.edge(1).up());
  ASSERT_EQ(pair.pump(1).status().state, WorkerState::kJoining) << "has not copied it yet";
  pair.standing[0].leave = true;
  pair.turn(0);
  pair.wire.deliver(0);
  pair.turn(1);
  EXPECT_EQ(pair.pump(1).status().state, WorkerState::kTraining);
  EXPECT_EQ(pair.pump(1).status().joined_from, kNoRank);
}

/// Two newcomers of other weights, before they meet.
struct Unlike : EnginePair {
  explicit Unlike(bool zero_wants_the_same = false, std::size_t carried = 0)
      : EnginePair({.join_at_once = false, .carried = carried}) {
    for (const Rank rank : {0, 1}) {
      hash[rank] = start_hash(rank);
      restart(rank, [&](EngineConfig& c) {
        c.lowest_initial = rank == 1 || !zero_wants_the_same;
        c.hello.initial_hash = hash[rank];
      });
    }
  }
  std::uint64_t hash[2];  ///< of their weights
};

TEST(InitialWeights, of_the_lower_rank_are_taken_over_bit_for_bit_and_both_begin) {
  Unlike pair;
  const std::vector<float> lowest = pair.z(0);
  pair.meet();
  for (const Rank rank : {0, 1}) {
    const PumpStatus& status = pair.pump(rank).status();
    EXPECT_EQ(status.state, WorkerState::kTraining);
    EXPECT_EQ(status.initial, (Origin{0, pair.hash[0]}));
    EXPECT_EQ(status.joined_from, kNoRank) << "nobody has a model yet";
    EXPECT_EQ(status.adopted, static_cast<std::uint64_t>(rank));
    EXPECT_EQ(pair.z(rank), lowest);
  }
  EXPECT_EQ(pair.pump(1).status().initial_by, 0);
  EXPECT_EQ(pair.pump(0).status().initial_by, kNoRank);
}

TEST(InitialWeights, a_copy_that_breaks_off_leaves_the_own_ones) {
  Unlike pair;
  const std::vector<float> own = pair.z(1), lowest = pair.z(0);
  ASSERT_TRUE(copy(pair, 1));
  EXPECT_EQ(pair.z(1), own);
  pair.wire.cut();
  pair.pass(1);
  EXPECT_EQ(pair.z(1), own);
  EXPECT_EQ(pair.pump(1).status().initial, (Origin{1, pair.hash[1]}));
  EXPECT_EQ(pair.pump(1).status().state, WorkerState::kJoining);
  pair.meet();
  EXPECT_EQ(pair.z(1), lowest);
}

TEST(InitialWeights, who_gives_up_waiting_begins_with_those_it_has) {
  Unlike pair;
  const std::vector<float> own = pair.z(1);
  pair.standing[1].stop_joining = true;
  pair.turn(1);
  EXPECT_EQ(pair.pump(1).status().state, WorkerState::kTraining);
  pair.boundary(1);
  EXPECT_EQ(pair.z(1), own);
}

/// Rank 0 comes when rank 1 has made steps: a newcomer to a network that trains, whatever its rank.
TEST(InitialWeights, of_a_lower_rank_that_come_late_do_not_replace_what_is_trained) {
  Unlike pair;
  pair.standing[1].stop_joining = true;
  for (int i = 0; i < 3; ++i) pair.boundary(1);
  const std::vector<float> trained = pair.z(1);
  pair.meet();
  EXPECT_EQ(pair.pump(1).status().adopted, 0U);
  EXPECT_EQ(pair.pump(0).status().joined_from, 1);
  EXPECT_EQ(pair.z(0), trained);
  EXPECT_EQ(pair.pump(0).status().initial, (Origin{1, pair.hash[1]}));
}

/// It goes on with a model that it has saved, if only of a few steps.
TEST(InitialWeights, a_resumed_worker_is_not_asked_and_newcomers_copy_it) {
  for (const Rank resumed : {0, 1}) {
    EnginePair pair({.join_at_once = false});
    for (const Rank rank : {0, 1}) {
      pair.restart(rank, [&](EngineConfig& c) {
        c.lowest_initial = true;
        c.trained = rank == resumed;
        if (rank != resumed) c.hello.initial_hash = 0xdef;
      });
    }
    const std::vector<float> saved = pair.z(resumed);
    pair.meet();
    EXPECT_EQ(pair.z(1 - resumed), saved);
    EXPECT_EQ(pair.pump(1 - resumed).status().joined_from, resumed);
    EXPECT_EQ(pair.pump(resumed).status().adopted, 0U);
  }
}

/// Frozen parameters and buffers: 7 bytes in chunks of 3.
TEST(InitialWeights, bring_what_is_carried_beside_them) {
  Unlike pair(false, 7);
  ASSERT_NE(pair.carried(0), pair.carried(1));
  const auto lowest = pair.carried(0);
  pair.meet();
  EXPECT_EQ(pair.carried(0), lowest);
  EXPECT_EQ(pair.carried(1), lowest);
  ASSERT_EQ(pair.pump(1).status().state, WorkerState::kTraining);
}

TEST(InitialWeights, that_break_off_leave_what_the_worker_carries) {
  Unlike pair(false, 7);
  const auto own = pair.carried(1);
  ASSERT_TRUE(copy(pair, 4));
  pair.wire.cut();
  pair.pass(1);
  EXPECT_EQ(pair.carried(1), own);
}

TEST(Joining, who_comes_late_with_other_weights_copies_what_is_carried_too) {
  for (const bool breaks_off : {false, true}) {
    Unlike pair(false, 7);
    const auto own = pair.carried(1), theirs = pair.carried(0);
    pair.standing[0].stop_joining = true;
    for (int i = 0; i < 3; ++i) pair.boundary(0);
    ASSERT_TRUE(copy(pair, 5));
    if (breaks_off) {
      pair.wire.cut();
      pair.turn(1);
      pair.standing[1].stop_joining = true;
      pair.turn(1);
      EXPECT_EQ(pair.carried(1), own);
    } else {
      pair.deliver_all();
      EXPECT_EQ(pair.pump(1).status().joined_from, 0);
      EXPECT_EQ(pair.carried(1), theirs);
    }
  }
}

/// Each gave up waiting for the other.
TEST(InitialWeights, of_two_workers_that_have_both_begun_are_told_of_once) {
  Unlike pair;
  for (const Rank rank : {0, 1}) {
    pair.standing[rank].stop_joining = true;
    pair.boundary(rank);
    pair.standing[rank].stop_joining = false;
  }
  pair.meet();
  pair.pass(2);
  for (const Rank rank : {0, 1}) {
    ASSERT_EQ(pair.log(rank).size(), 1U);
    EXPECT_THAT(pair.log(rank).front(),
                HasSubstr("other initial weights, of rank " + std::to_string(1 - rank) +
                          ", this worker from those of rank " + std::to_string(rank)));
  }
}

/// Of two workers, one asks for equal weights: it refuses, and says what to do.
TEST(InitialWeights, are_refused_by_a_worker_that_wants_the_same) {
  Unlike pair(/*zero_wants_the_same=*/true);
  pair.meet();
  pair.pass(1);
  EXPECT_THAT(pair.pump(1).status().refused, HasSubstr("initial weights' hash differs"));
  EXPECT_THAT(pair.pump(1).status().refused, HasSubstr("lowest"));
  EXPECT_NE(pair.pump(1).status().state, WorkerState::kTraining);
}

}  // namespace
}  // namespace stencil
