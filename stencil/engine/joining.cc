#include "stencil/engine/joining.h"

namespace stencil {
namespace {

/// How long a newcomer that hears only fellow newcomers waits for an established neighbour.
constexpr Duration kJoinGrace = std::chrono::seconds(5);

}  // namespace

void Joining::on_synchronised(TimePoint now) {
  if (first_heard_ == kNever) first_heard_ = now;
}

void Joining::start_over() {
  self_.state = WorkerState::kJoining;
  puller_.plan().stop();
  first_heard_ = kNever;
  joined_from_ = copying_from_ = kNoRank;
  copied_ = 0;
}

void Joining::begin_with(Rank from, Actions& out) {
  Neighbour* const copied = self_.neighbours.find(copying_from_);
  if (from == kNoRank && copying_from_ != kNoRank) {
    self_.config.hello.initial_hash = own_initial_hash_;
    for (std::uint32_t bucket = 0; bucket < self_.config.buckets; ++bucket) {
      out.push_back(action::Adopt{copied, Snapshot{.bucket = bucket}});
    }
  }
  if (from != kNoRank) {
    ++adopted_;
    self_.note_progress(self_.neighbours.at(from).life.progress);
  }
  joined_from_ = from;
  self_.state = WorkerState::kTraining;
  puller_.plan().stop();
}

void Joining::consider(TimePoint now, Actions& out) {
  if (self_.state != WorkerState::kJoining) return;
  PullPlan& plan = puller_.plan();
  if (plan.active()) {
    const Neighbour* source = self_.neighbours.find(plan.sources().front());
    if (source != nullptr && source->up()) return;
    plan.stop();
  }
  bool all_heard = true;
  bool all_left = true;
  bool any_fresh = false;
  bool any_ahead = false;
  const bool new_here = self_.config.hello.progress == 0 && self_.step() == 0;
  for (const Neighbour& neighbour : self_.neighbours) {
    const Life& life = neighbour.life;
    const WorkerState state = neighbour.report.state;
    all_heard &= life.ever_heard;
    all_left &= neighbour.state == LinkState::kLeft;
    if (!neighbour.up()) continue;
    const bool begun = state != WorkerState::kJoining;
    const bool ahead = far_behind(neighbour);
    const bool established =
        begun && (ahead || (new_here && !life.fresh &&
                            (neighbour.report.steps.count > 0 || state != WorkerState::kTraining)));
    const bool foreign = new_here && life.initial_hash != self_.config.hello.initial_hash;
    const bool follows = foreign && self_.config.init_from_neighbour && begun;
    if ((established && !self_.in_lock_step()) || follows) {
      self_.config.hello.initial_hash = life.initial_hash;
      plan.start(0, {&neighbour.rank, 1});
      return puller_.issue(now, out);
    }
    any_ahead |= ahead;
    any_fresh |= !foreign || self_.config.rank < neighbour.rank;
  }
  const bool waited = first_heard_ != kNever && now - first_heard_ >= kJoinGrace;
  if (all_left || (any_fresh && !any_ahead && (all_heard || waited))) {
    begin_with(kNoRank, out);
    self_.heartbeat_all(now, out);
  } else if (waited) {
    first_heard_ = now;  // no neighbour to begin with yet: wait for another moment
  }
}

bool Joining::on_snapshot(const Neighbour& neighbour, const Snapshot& snapshot, Actions& out) {
  copying_from_ = neighbour.rank;
  ++copied_;
  out.push_back(action::Adopt{self_.neighbours.find(neighbour.rank), snapshot});
  if (!puller_.plan().finished()) return false;
  begin_with(neighbour.rank, out);
  return true;
}

void Joining::give_up(TimePoint now, Actions& out) {
  if (self_.state != WorkerState::kJoining) return;
  begin_with(kNoRank, out);
  self_.heartbeat_all(now, out);
}

TimePoint Joining::next() const {
  const bool waits = self_.state == WorkerState::kJoining && first_heard_ != kNever;
  return waits && !puller_.plan().active() ? first_heard_ + kJoinGrace : kNever;
}

}  // namespace stencil
