#include "stencil/runtime/memory_sharing.h"

namespace stencil {

MemorySharing::MemorySharing(Engine& engine, Edges& edges, Mixer& mixer, Meeting* meeting,
                             Settlement& settlement, Complaints& complaints, PumpCounters& counters)
    : engine_(engine),
      edges_(edges),
      mixer_(mixer),
      meeting_(meeting),
      settlement_(settlement),
      complaints_(complaints),
      counters_(counters) {}

void MemorySharing::meet(TimePoint now, Executor& executor, Actions& actions) {
  if (meeting_ == nullptr) return;
  for (const auto& [rank, edge] : edges_) {
    if (edge.memory.token.empty()) {
      meeting_->forget(rank);
    } else {
      meeting_->meet(rank, edge.memory.token);
    }
  }
  meeting_->poll();
  for (const auto& [rank, edge] : edges_) {
    engine_.on_sharing(now, rank, meeting_->find(rank) != nullptr, actions);
    executor.run(actions);
  }
}

void MemorySharing::watch(TimePoint now) {
  const Rank holder = mixer_.lock_holder();
  if (holder != holder_) {
    holder_ = holder;
    held_since_ = now;
  }
  if (holder_ == kNoRank || now - held_since_ < engine_.config().suspect_after) return;
  complaints_.about(holder_, "holds",
                    "stands still and holds a bucket of ours, which is not exchanged until it goes "
                    "on or ends; counted as deferred");
}

void MemorySharing::share(TimePoint now, Executor& executor, Actions& actions) {
  engine_.take_shares(now, shares_);
  for (const Action& action : shares_) {
    const auto& share = std::get<action::Share>(action);
    const ShareResult result = average(edges_.at(share.with), share.bucket, executor.finishing());
    engine_.on_share(now, share.with, share.bucket, result, actions);
    executor.run(actions);
  }
  shares_.clear();
}

ShareResult MemorySharing::average(Edge& with, std::uint32_t bucket, bool finishing) {
  Segment* theirs = meeting_->find(with.rank());
  const bool lower_first = with.rank() < engine_.config().rank;
  const MixReport report =
      mixer_.average_shared(bucket, *theirs, lower_first, with.neighbour.unlike);
  if (report.applied) {
    const std::uint64_t bytes = mixer_.floats(bucket) * sizeof(float);
    with.memory.bytes += bytes;
    counters_.bytes_shared += bytes;
    const WorkerState state = with.neighbour.report.state;
    const bool they_finish = state == WorkerState::kSettling || state == WorkerState::kSettled;
    settlement_.measured(with, bucket, report.distance2, report.norm2, report.divisor,
                         they_finish || !finishing);
    return ShareResult::kDone;
  }
  if (report.why == MixReport::Why::kLocked) return ShareResult::kLocked;
  if (report.why == MixReport::Why::kNotFinite) {
    ++counters_.non_finite;
    complaints_.about(with.rank(), "shared",
                      "a bucket in shared memory that is not finite was refused");
  }
  return ShareResult::kRefused;
}

void MemorySharing::read_notes() {
  Segment& segment = mixer_.segment();
  const std::uint64_t noted = segment.noted();
  if (noted == notes_read_) return;
  notes_read_ = noted;
  for (std::uint32_t bucket = 0; bucket < mixer_.telemetry_bucket(); ++bucket) {
    SharedNote& note = segment.note(bucket);
    const float moved = note.moved.exchange(0.0F);
    if (moved != 0) settlement_.moved(bucket, moved, note.norm2);
  }
}

bool MemorySharing::notes_are_read() const {
  return mixer_.segment().noted() == notes_read_;
}

void MemorySharing::forget(Rank neighbour) {
  if (meeting_ != nullptr) meeting_->forget(neighbour);
}

}  // namespace stencil
