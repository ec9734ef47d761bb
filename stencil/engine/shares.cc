// The engine's part in exchanging through shared memory: which buckets, when, and what became of
// them. An exchange there is an instant request: asked, answered and settled in one.
#include <algorithm>

#include "stencil/engine/engine.h"

namespace stencil {
namespace {

/// What is left of a sweep is held by others: look again after so long, and so often; then the
/// sweep ends without.
constexpr Duration kHeldPause = std::chrono::milliseconds(1);
constexpr std::uint32_t kHeldPauses = 16;

}  // namespace

void Engine::on_sharing(TimePoint now, Rank rank, bool shared, Actions& out) {
  Edge* edge = find(rank);
  if (edge == nullptr || edge->shared == shared) return;
  edge->shared = shared;
  issue(now, out);
}

/// Not ahead of the boundary: the neighbour's memory does not say whether it has made its step
/// there yet, and all of it takes so little time that there is little to win.
bool Engine::may_share(TimePoint now, const Sweep& sweep) const {
  const Edge& edge = *this->edge(sweep.rank);
  const bool ahead = making() && sweep.step == sweeps_.earned();
  return edge.shared && edge.askable() && asks(sweep) && !ahead && now >= sweep.resume &&
         state_ != WorkerState::kFrozen;
}

bool Engine::about_to_share(TimePoint now, std::uint32_t bucket) const {
  return bucket != telemetry() && std::ranges::any_of(sweeps_.active(), [&](const Sweep& sweep) {
           return sweep.pending[bucket] && made(sweep, bucket) && may_share(now, sweep);
         });
}

void Engine::take_shares(TimePoint now, Actions& out) {
  for (Sweep& sweep : sweeps_.active()) {
    if (!may_share(now, sweep)) continue;
    for (std::uint32_t taken = 0; taken < config_.window; ++taken) {
      const std::optional<std::uint32_t> bucket =
          SweepBook::next(sweep, telemetry(),
                          [&](std::uint32_t b) { return made(sweep, b) && !buckets_.is_open(b); });
      if (!bucket) break;
      out.push_back({.kind = Action::Kind::kShare, .rank = sweep.rank, .bucket = *bucket});
    }
    if (!out.empty()) return;
  }
}

void Engine::on_share(TimePoint now, Rank rank, std::uint32_t bucket, ShareResult result,
                      Actions& out) {
  Edge* edge = find(rank);
  Sweep* sweep = sweeps_.find(rank);
  if (edge == nullptr || sweep == nullptr || sweep->pending[bucket]) return;
  --sweep->unsettled;
  if (result == ShareResult::kDone) ++counters_.shares;
  if (result == ShareResult::kRefused) ++counters_.shares_declined;
  if (result == ShareResult::kHeld) note_held(now, *sweep, bucket);
  consider_complete(now, *edge, *sweep);
  issue(now, out);
}

void Engine::note_held(TimePoint now, Sweep& sweep, std::uint32_t bucket) {
  ++counters_.held;
  sweep.pending[bucket] = true;
  ++sweep.unasked;
  if (++sweep.held < sweep.unasked) return;
  sweep.held = 0;
  if (++sweep.pauses <= kHeldPauses) {
    sweep.resume = now + kHeldPause;
    return;
  }
  for (std::uint32_t b = 0; b < telemetry(); ++b) {
    if (!sweep.pending[b] || !made(sweep, b)) continue;
    sweep.pending[b] = false;
    --sweep.unasked;
    ++counters_.skipped;
  }
}

TimePoint Engine::next_share() const {
  TimePoint next = kNever;
  for (const Sweep& sweep : sweeps_.active()) {
    if (!may_share(TimePoint::max(), sweep)) continue;
    for (std::uint32_t bucket = 0; bucket < telemetry(); ++bucket) {
      if (!sweep.pending[bucket] || !made(sweep, bucket) || buckets_.is_open(bucket)) continue;
      next = std::min(next, sweep.resume);
      break;
    }
  }
  return next;
}

}  // namespace stencil
