#include "fast/session/status_of.h"

#include <chrono>

namespace fast {
namespace {

double in_seconds(stencil::Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

/// Whoever has finished and is silent has left: its last word can be lost with its link.
LinkState link_of(const stencil::NeighbourStatus& n) {
  const bool finished = n.state == WorkerState::kFrozen && n.link == LinkState::kSuspect;
  return finished ? LinkState::kLeft : n.link;
}

NeighbourStatus status_of(const stencil::NeighbourStatus& n, stencil::TimePoint now) {
  return {.rank = n.rank,
          .link = link_of(n),
          .state = n.state,
          .step = n.step,
          .sweeps = n.sweeps,
          .bytes_sent = n.bytes_sent,
          .other_grid = n.other_grid,
          .paused = n.paused,
          .shared = n.shared,
          .bytes_shared = n.bytes_shared,
          .round_trip = in_seconds(n.round_trip),
          .since_sweep = n.sweeps == 0 ? -1 : in_seconds(now - n.swept)};
}

}  // namespace

SessionStatus status_of(const stencil::PumpStatus& s, stencil::TimePoint now) {
  SessionStatus out;
  out.state = s.state;
  if (s.joined_from != stencil::kNoRank) out.joined_from = s.joined_from;
  if (s.initial_by != stencil::kNoRank) out.initial_from = s.initial.rank;
  out.consensus_distance = s.relative_distance;
  out.flushed = s.flushed;
  for (const stencil::NeighbourStatus& n : s.neighbours)
    out.neighbours.push_back(status_of(n, now));
  out.counters = {{"sweeps", s.engine.sweeps},
                  {"offers", s.engine.offers},
                  {"answers", s.engine.answers},
                  {"merges", s.engine.merges},
                  {"declined", s.engine.declined},
                  {"withdrawn", s.engine.withdrawn},
                  {"lost_in_flight", s.engine.lost_in_flight},
                  {"resynchronised", s.engine.resynchronised},
                  {"stale_frames", s.engine.stale_frames},
                  {"duplicates", s.engine.duplicates},
                  {"gaps", s.engine.gaps},
                  {"refusals", s.engine.refusals},
                  {"violations", s.engine.violations},
                  {"start_refused", s.engine.start_refused},
                  {"other_grids", s.engine.other_grids},
                  {"suspected", s.engine.suspected},
                  {"gone", s.engine.gone},
                  {"returned", s.engine.returned},
                  {"malformed", s.pump.malformed},
                  {"checksum", s.pump.checksum},
                  {"payload_size", s.pump.payload_size},
                  {"non_finite", s.pump.non_finite},
                  {"own_non_finite", s.pump.own_non_finite},
                  {"claims_refused", s.pump.claims_refused},
                  {"unknown_senders", s.pump.unknown_senders},
                  {"unproven", s.pump.unproven},
                  {"frames_dropped", s.pump.frames_dropped},
                  {"resent", s.engine.resent},
                  {"shares", s.engine.shares},
                  {"shares_declined", s.engine.shares_declined},
                  {"held", s.engine.held},
                  {"skipped", s.engine.skipped},
                  {"looked", s.engine.looked},
                  {"deferred", s.pump.deferred},
                  {"put_off", s.pump.put_off},
                  {"inherited_locks", s.pump.inherited_locks},
                  {"bytes_shared", s.pump.bytes_shared},
                  {"frames_sent", s.transport.frames_sent},
                  {"frames_received", s.transport.frames_received},
                  {"bytes_sent", s.transport.bytes_sent},
                  {"bytes_received", s.transport.bytes_received},
                  {"strangers", s.transport.strangers},
                  {"data_used", s.data.bytes},
                  {"data_rests", s.rests ? 1 : 0},
                  {"bytes_waiting", s.transport.held},
                  {"discarded", s.transport.discarded}};
  return out;
}

}  // namespace fast
