#include "fast/session/status_of.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace fast {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;

constexpr stencil::TimePoint kNow{100s};

SessionStatus status_of_one(const stencil::NeighbourStatus& neighbour) {
  stencil::PumpStatus status;
  status.neighbours = {neighbour};
  return status_of(status, kNow);
}

TEST(StatusOf, AWorkersOwnStateIsAsThePumpSaysIt) {
  stencil::PumpStatus status;
  status.state = WorkerState::kSettling;
  status.relative_distance = 0.125;
  status.flushed = true;
  const SessionStatus seen = status_of(status, kNow);
  EXPECT_EQ(seen.state, WorkerState::kSettling);
  EXPECT_EQ(seen.consensus_distance, 0.125);
  EXPECT_TRUE(seen.flushed);
  EXPECT_THAT(seen.neighbours, IsEmpty());
}

TEST(StatusOf, AWorkerThatTookOverNobodysModelJoinedFromNobody) {
  stencil::PumpStatus status;
  EXPECT_EQ(status_of(status, kNow).joined_from, std::nullopt);
  status.joined_from = 0;
  EXPECT_EQ(status_of(status, kNow).joined_from, std::optional(0)) << "rank 0 is somebody";
}

TEST(StatusOf, ANeighbourThatHasFinishedAndIsSilentHasLeft) {
  const auto link = [](WorkerState state, LinkState link) {
    return status_of_one({.rank = 3, .link = link, .state = state}).neighbours.at(0).link;
  };
  EXPECT_EQ(link(WorkerState::kFrozen, LinkState::kSuspect), LinkState::kLeft);
  EXPECT_EQ(link(WorkerState::kTraining, LinkState::kSuspect), LinkState::kSuspect);
  EXPECT_EQ(link(WorkerState::kFrozen, LinkState::kUp), LinkState::kUp);
  EXPECT_EQ(link(WorkerState::kFrozen, LinkState::kGone), LinkState::kGone);
}

TEST(StatusOf, ANeighbourKeepsItsNumbers) {
  const SessionStatus seen = status_of_one({.rank = 3,
                                            .link = LinkState::kSuspect,
                                            .state = WorkerState::kTraining,
                                            .step = 17,
                                            .sweeps = 5,
                                            .bytes_sent = 4096,
                                            .other_grid = true,
                                            .shared = true,
                                            .bytes_shared = 8192,
                                            .round_trip = {},
                                            .swept = kNow});
  ASSERT_EQ(seen.neighbours.size(), 1U);
  const NeighbourStatus& neighbour = seen.neighbours[0];
  EXPECT_EQ(neighbour.rank, 3);
  EXPECT_EQ(neighbour.link, LinkState::kSuspect);
  EXPECT_EQ(neighbour.state, WorkerState::kTraining);
  EXPECT_EQ(neighbour.step, 17U);
  EXPECT_EQ(neighbour.sweeps, 5U);
  EXPECT_EQ(neighbour.bytes_sent, 4096U);
  EXPECT_TRUE(neighbour.other_grid);
  EXPECT_TRUE(neighbour.shared);
  EXPECT_EQ(neighbour.bytes_shared, 8192U);
}

TEST(StatusOf, TimesAreInSeconds) {
  const SessionStatus seen =
      status_of_one({.sweeps = 1, .round_trip = 1500us, .swept = kNow - 2500ms});
  EXPECT_DOUBLE_EQ(seen.neighbours.at(0).round_trip, 0.0015);
  EXPECT_DOUBLE_EQ(seen.neighbours.at(0).since_sweep, 2.5);
  EXPECT_EQ(status_of_one({}).neighbours.at(0).round_trip, 0) << "none has been measured";
}

TEST(StatusOf, BeforeTheFirstSweepItsAgeIsMinusOne) {
  EXPECT_EQ(status_of_one({.sweeps = 0, .swept = kNow}).neighbours.at(0).since_sweep, -1);
  EXPECT_EQ(status_of_one({.sweeps = 0}).neighbours.at(0).since_sweep, -1);
  EXPECT_EQ(status_of_one({.sweeps = 1, .swept = kNow}).neighbours.at(0).since_sweep, 0);
}

/// Every counter has a different value here, so that none can be mistaken for another.
TEST(StatusOf, CountersAreFoundByTheirNames) {
  stencil::PumpStatus status;
  std::uint64_t next = 0;
  std::map<std::string, std::uint64_t> expected;
  const auto count = [&](const char* name, std::uint64_t& counter) {
    expected[name] = counter = ++next;
  };
  count("sweeps", status.engine.sweeps);
  count("offers", status.engine.offers);
  count("answers", status.engine.answers);
  count("merges", status.engine.merges);
  count("declined", status.engine.declined);
  count("withdrawn", status.engine.withdrawn);
  count("lost_in_flight", status.engine.lost_in_flight);
  count("resynchronised", status.engine.resynchronised);
  count("stale_frames", status.engine.stale_frames);
  count("duplicates", status.engine.duplicates);
  count("gaps", status.engine.gaps);
  count("refusals", status.engine.refusals);
  count("violations", status.engine.violations);
  count("start_refused", status.engine.start_refused);
  count("other_grids", status.engine.other_grids);
  count("suspected", status.engine.suspected);
  count("gone", status.engine.gone);
  count("returned", status.engine.returned);
  count("shares", status.engine.shares);
  count("shares_declined", status.engine.shares_declined);
  count("held", status.engine.held);
  count("skipped", status.engine.skipped);
  count("looked", status.engine.looked);
  count("malformed", status.pump.malformed);
  count("checksum", status.pump.checksum);
  count("payload_size", status.pump.payload_size);
  count("non_finite", status.pump.non_finite);
  count("own_non_finite", status.pump.own_non_finite);
  count("claims_refused", status.pump.claims_refused);
  count("unknown_senders", status.pump.unknown_senders);
  count("unproven", status.pump.unproven);
  count("frames_dropped", status.pump.frames_dropped);
  count("resent", status.engine.resent);
  count("deferred", status.pump.deferred);
  count("put_off", status.pump.put_off);
  count("inherited_locks", status.pump.inherited_locks);
  count("bytes_shared", status.pump.bytes_shared);
  count("frames_sent", status.transport.frames_sent);
  count("frames_received", status.transport.frames_received);
  count("bytes_sent", status.transport.bytes_sent);
  count("bytes_received", status.transport.bytes_received);
  count("bytes_waiting", status.transport.held);
  count("strangers", status.transport.strangers);
  count("discarded", status.transport.discarded);
  // The structs hold only counters: one that is added but not reported is noticed here.
  EXPECT_EQ(next * sizeof next,
            sizeof status.engine + sizeof status.pump + sizeof status.transport);
  count("data_used", status.data.bytes);  // it begins anew with each period
  status.rests = true;
  expected["data_rests"] = 1;  // while it does

  const SessionStatus seen = status_of(status, kNow);
  for (const auto& [name, value] : expected) EXPECT_EQ(seen.counter(name), value) << name;
  EXPECT_EQ(seen.counters.size(), expected.size());
  EXPECT_EQ(seen.counter("unheard of"), 0U);
}

}  // namespace
}  // namespace fast
