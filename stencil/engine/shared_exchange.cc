#include "stencil/engine/shared_exchange.h"

#include <algorithm>

namespace stencil {
namespace {

/// Where other processes hold the remaining buckets of a sweep, it tries again after this time,
/// this often. Then the sweep ends without them.
constexpr Duration kLockedPause = std::chrono::milliseconds(1);
constexpr std::uint32_t kLockedPauses = 16;

}  // namespace

bool SharedExchange::may_share(TimePoint now, const Sweep& sweep) const {
  return sweep.neighbour->shared && sweep.neighbour->askable() && turns_.may_offer(sweep) &&
         !turns_.is_ahead(sweep) && now >= sweep.resume && self_.state != WorkerState::kFrozen;
}

void SharedExchange::claim(TimePoint now) {
  for (Sweep& sweep : sweeps_.active()) sweeps_.set_claim(sweep, may_share(now, sweep));
}

void SharedExchange::take(TimePoint now, Actions& out) {
  for (Sweep& sweep : sweeps_.active()) {
    if (!may_share(now, sweep)) continue;
    bool any = false;
    for (std::uint32_t taken = 0; taken < self_.config.window; ++taken) {
      const auto bucket = sweeps_.next(sweep, turns_.first(sweep), self_.telemetry());
      if (!bucket) break;
      sweeps_.take(sweep, *bucket);
      out.push_back(action::Share{sweep.neighbour->rank, *bucket});
      any = true;
    }
    if (any) return;
  }
}

void SharedExchange::on_share(TimePoint now, const Neighbour& neighbour, std::uint32_t bucket,
                              ShareResult result) {
  Sweep* sweep = sweeps_.find(neighbour);
  if (sweep == nullptr || sweep->pending.contains(bucket)) return;
  if (result == ShareResult::kLocked) {
    note_locked(now, *sweep, bucket);
  } else {
    --sweep->unanswered;
  }
  if (result == ShareResult::kDone) ++self_.counters.shares;
  if (result == ShareResult::kRefused) ++self_.counters.shares_declined;
  exchange_.consider_complete(now, *sweep);
}

void SharedExchange::note_locked(TimePoint now, Sweep& sweep, std::uint32_t bucket) {
  ++self_.counters.held;
  sweeps_.put_back(sweep, bucket);
  if (++sweep.locked < sweep.unasked) return;
  sweep.locked = 0;
  if (++sweep.pauses <= kLockedPauses) {
    sweep.resume = now + kLockedPause;
    return;
  }
  for (std::uint32_t b = turns_.first(sweep); b < self_.telemetry(); ++b) {
    if (!sweep.pending.contains(b)) continue;
    sweeps_.strike(sweep, b);
    ++self_.counters.skipped;
  }
}

TimePoint SharedExchange::next() {
  TimePoint next = kNever;
  for (const Sweep& sweep : sweeps_.active()) {
    if (!may_share(TimePoint::max(), sweep)) continue;
    if (sweeps_.next(sweep, turns_.first(sweep), self_.telemetry())) {
      next = std::min(next, sweep.resume);
    }
  }
  return next;
}

}  // namespace stencil
