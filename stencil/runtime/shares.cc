// The pump's part in exchanging through shared memory.
#include <cmath>

#include "stencil/runtime/pump.h"

namespace stencil {

/// Whose segment is mapped, or no longer is.
void Pump::meet(TimePoint now) {
  if (meeting_ == nullptr) return;
  for (const Side& side : sides_) {
    if (!side.meeting.empty()) meeting_->meet(side.rank, side.meeting);
  }
  meeting_->poll();
  for (const Side& side : sides_) {
    engine_.on_sharing(now, side.rank, meeting_->find(side.rank) != nullptr, actions_);
  }
  act(nullptr);
}

/// A few buckets, then the network has its turn again.
void Pump::share(TimePoint now) {
  engine_.take_shares(now, shares_);
  for (const Action& action : shares_) {
    Side& side = this->side(action.rank);
    Segment* theirs = meeting_->find(side.rank);
    const WorkerState state = engine_.edge(side.rank)->peer_state;
    const bool telling =
        finishing() && (state == WorkerState::kSettling || state == WorkerState::kSettled);
    const MixReport report =
        mixer_.share(action.bucket, *theirs, side.rank < engine_.config().rank, side.slot);
    ShareResult result = ShareResult::kDone;
    if (report.applied) {
      const std::uint64_t bytes = mixer_.floats(action.bucket) * sizeof(float);
      side.bytes_shared += bytes;
      counters_.bytes_shared += bytes;
      settlement_.measured(side.rank, action.bucket, report.distance2, report.norm2, report.divisor,
                           telling || !finishing());
    } else if (report.why == MixReport::Why::kHeld) {
      result = ShareResult::kHeld;
    } else {
      result = ShareResult::kRefused;
      if (report.why == MixReport::Why::kNotFinite) {
        ++counters_.non_finite;
        complain(side.rank, "shared", "a bucket in shared memory that is not finite was refused");
      }
    }
    engine_.on_share(now, side.rank, action.bucket, result, actions_);
  }
  shares_.clear();
  act(nullptr);
}

/// What neighbours did to our model in shared memory, as far as settling must know of it.
void Pump::read_notes() {
  Segment& segment = mixer_.segment();
  const std::uint64_t noted = segment.noted();
  if (noted == notes_read_) return;
  notes_read_ = noted;
  for (std::uint32_t bucket = 0; bucket < mixer_.telemetry_bucket(); ++bucket) {
    for (const Side& side : sides_) {
      SharedNote& note = segment.note(bucket, static_cast<std::uint32_t>(&side - sides_.data()));
      const float moved = note.moved.exchange(0.0F);
      if (moved != 0) settlement_.moved(bucket, moved, note.norm2);
    }
  }
}

}  // namespace stencil
