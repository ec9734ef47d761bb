#include "stencil/engine/joining.h"

#include <algorithm>
#include <string>
#include <utility>

namespace stencil {
namespace {

/// How long a newcomer that hears only fellow newcomers waits for an established neighbour.
constexpr Duration kJoinGrace = std::chrono::seconds(5);

/// Of two that meet, the one that is far behind begins to copy the other's model by then.
constexpr Duration kAdoptionBegins = std::chrono::seconds(1);

std::string text(const Origin& origin) {
  return origin.rank == kNoRank ? "a checkpoint" : "rank " + std::to_string(origin.rank);
}

}  // namespace

void Joining::on_synchronised(TimePoint now) {
  if (first_heard_ == kNever) first_heard_ = now;
}

void Joining::compare_origins(TimePoint now, Neighbour& neighbour, Actions& out) const {
  const Origin ours = self_.config.hello.initial();
  const Origin& theirs = neighbour.life.initial;
  if (ours.hash == theirs.hash || neighbour.life.other_origin || !neighbour.up()) return;
  if (now - neighbour.life.greeted_at < kAdoptionBegins) return;
  if (self_.state == WorkerState::kJoining) return;
  if (neighbour.report.number == 0 || neighbour.report.state == WorkerState::kJoining) return;
  neighbour.life.other_origin = true;
  out.push_back(action::Warn{
      neighbour.rank,
      "it began from other initial weights, of " + text(theirs) + ", this worker from those of " +
          text(ours) + ": two models are averaged; start all workers within " +
          self_.config.naming("start_deadline") + ", or load the same weights at all",
      "origin"});
}

bool Joining::trains_with_others(const Neighbour& but) const {
  if (self_.step() == 0) return false;
  return std::ranges::any_of(self_.neighbours, [&](const Neighbour& one) {
    return one.rank != but.rank && one.up() && one.report.state == WorkerState::kTraining &&
           one.report.steps.count > 0 && !one.life.behind && !one.life.doubted && !far_behind(one);
  });
}

bool Joining::trusted(Rank rank) const {
  const auto found = not_served_.find(rank);
  return found == not_served_.end() || found->second < 2;
}

void Joining::note_not_served() {
  const bool copies = puller_.plan().active() && !copies_initial_;
  const Rank rank = copies ? puller_.plan().sources().front() : following_;
  if (rank != kNoRank) not_served_[rank] += copied_ == 0 ? 2 : 1;
}

bool Joining::believes(Neighbour& neighbour, const MessageHeader& header, Actions& out) {
  if (!trusted(neighbour.rank)) {
    out.push_back(action::Warn{neighbour.rank,
                               "it tells of a model far ahead of this worker's, and did not serve "
                               "it before: that is not believed again",
                               "not served"});
    return false;
  }
  const bool newcomer = header.state == WorkerState::kJoining && header.step == 0;
  const bool saved = newcomer && trains_with_others(neighbour);
  if (saved) stale_[neighbour.rank] = neighbour.life.id;
  const auto found = stale_.find(neighbour.rank);
  if (found == stale_.end() || found->second != neighbour.life.id) {
    following_ = neighbour.rank;
    return true;
  }
  out.push_back(
      action::Warn{neighbour.rank,
                   "it comes with a saved model that is far ahead of those that are trained here, "
                   "which is not taken over: start it without that checkpoint, or all workers anew "
                   "with theirs",
                   "saved model"});
  return false;
}

void Joining::start_over() {
  self_.state = WorkerState::kJoining;
  puller_.plan().stop();
  first_heard_ = kNever;
  joined_from_ = copying_from_ = kNoRank;
  copied_ = 0;
}

void Joining::set_origin(const Origin& origin) {
  self_.config.hello.initial_hash = origin.hash;
  self_.config.hello.initial_rank = origin.rank;
}

/// The present copy of a model was broken off.
void Joining::discard(Actions& out) {
  const Rank rank = std::exchange(copying_from_, kNoRank);
  set_origin(origin_);
  if (rank == kNoRank) return;
  for (std::uint32_t bucket = 0; bucket < everything(); ++bucket) {
    out.push_back(action::Adopt{rank, Snapshot{.bucket = bucket}});
  }
}

void Joining::begin_with(TimePoint now, Rank from, Actions& out) {
  if (from == kNoRank) {
    discard(out);
  } else {
    origin_ = self_.config.hello.initial();
    ++adopted_;
    self_.note_progress(self_.neighbours.at(from).life.progress);
  }
  joined_from_ = from;
  following_ = kNoRank;
  self_.state = WorkerState::kTraining;
  self_.steps.last = now;
  puller_.plan().stop();
  coming_.drop();
}

bool Joining::established(const Neighbour& neighbour) const {
  const Report& report = neighbour.report;
  if (self_.in_lock_step() || report.state == WorkerState::kJoining) return false;
  if (!trusted(neighbour.rank)) return false;
  if (far_behind(neighbour)) return true;
  if (!self_.untrained()) return false;
  const Origin ours = self_.config.hello.initial();
  const Origin& theirs = neighbour.life.initial;
  const bool lower = asked() && theirs.hash != ours.hash && theirs < ours;
  const bool stepped = report.steps.count > 0 || report.state != WorkerState::kTraining;
  return (stepped && (lower || !neighbour.life.fresh)) || (lower && theirs.rank == kNoRank);
}

Joining::Around Joining::look() const {
  Around around;
  const EngineConfig& config = self_.config;
  const Origin ours = config.hello.initial();
  around.nearest = ours.rank;
  for (Neighbour& neighbour : self_.neighbours) {
    const Origin& theirs = neighbour.life.initial;
    around.all_heard &= neighbour.life.ever_heard;
    around.all_left &= neighbour.state == LinkState::kLeft;
    around.awaited |= neighbour.rank == following_ && neighbour.living() && neighbour.has_link &&
                      !neighbour.life.acknowledged;
    if (!neighbour.up()) continue;
    const bool begun = neighbour.report.state != WorkerState::kJoining;
    const bool other = self_.untrained() && theirs.hash != ours.hash;
    around.ahead |= far_behind(neighbour) && trusted(neighbour.rank);
    around.fellow |= !other || config.lowest_initial || config.rank < neighbour.rank;
    if (around.model == nullptr && established(neighbour)) around.model = &neighbour;
    if (!asked()) continue;
    const bool lower = other && theirs < ours;
    const bool serves = coming_.may_come_from(neighbour);
    // In lock step, what a worker that has begun shows is a round.
    const bool copyable =
        serves && lower && theirs.rank != kNoRank && !(begun && self_.in_lock_step());
    const bool lowest = around.initial == nullptr || theirs < around.initial->life.initial;
    if (copyable && lowest) around.initial = &neighbour;
    around.differing |= other && (lower || !begun) && (serves || begun);
    around.alike_begun |= !other && begun;
    if (!other) around.nearest = std::min(around.nearest, theirs.rank);
  }
  return around;
}

bool Joining::copies_on(const Around& around) const {
  const Neighbour* const source = self_.neighbours.find(puller_.plan().sources().front());
  if (source == nullptr || !source->up()) return false;
  if (!copies_initial_) return true;
  return around.model == nullptr && source->life.initial == coming_.origin() &&
         around.initial != nullptr && around.initial->life.initial == coming_.origin();
}

void Joining::copy(TimePoint now, const Neighbour& from, bool initial, Actions& out) {
  copies_initial_ = initial;
  // Of equal weights, by their hash, what is carried is equal too.
  const bool carried = from.life.initial.hash != origin_.hash;
  if (initial) {
    coming_.begin(from.life.initial, everything());
  } else {
    set_origin(from.life.initial);
  }
  puller_.plan().start(0, {&from.rank, 1}, carried ? self_.config.carried : 0);
  puller_.issue(now, out);
}

void Joining::on_start_hashed(TimePoint now, const Neighbour& neighbour, std::uint64_t hash,
                              Actions& out) {
  const PullPlan& plan = puller_.plan();
  const bool asked_for = self_.state == WorkerState::kJoining && copies_initial_ &&
                         plan.finished() && plan.sources().front() == neighbour.rank;
  if (!asked_for || !coming_.hashed()) return;
  if (hash == coming_.origin().hash) return hold(now, neighbour, out);
  puller_.plan().stop();
  coming_.note_untrue(neighbour, out);
}

/// The weights have come, and are those that were told of.
void Joining::hold(TimePoint now, const Neighbour& from, Actions& out) {
  coming_.hand_over(from.rank, out);
  puller_.plan().stop();
  origin_ = coming_.origin();
  initial_by_ = from.rank;
  ++adopted_;
  set_origin(origin_);
  handshake_.announce(now, out);
}

bool Joining::may_begin(const Around& around, bool waited) const {
  if (around.all_left) return true;
  if (!around.fellow || around.ahead || around.awaited) return false;
  const bool need_all = self_.in_lock_step() && self_.config.lowest_initial;
  if (!around.all_heard && (need_all || !waited)) return false;
  if (!asked()) return true;
  if (around.differing) return false;
  return self_.config.hello.initial_rank <= 0 || (waited && around.alike_begun);
}

void Joining::consider(TimePoint now, Actions& out) {
  if (self_.state != WorkerState::kJoining) return;
  const Around around = look();
  if (puller_.plan().active()) {
    if (copies_on(around)) return;
    puller_.plan().stop();
    discard(out);
  }
  if (around.model != nullptr) return copy(now, *around.model, /*initial=*/false, out);
  if (around.initial != nullptr) return copy(now, *around.initial, /*initial=*/true, out);
  if (around.nearest < self_.config.hello.initial_rank) {
    origin_.rank = around.nearest;
    set_origin(origin_);
    handshake_.announce(now, out);
  }
  const bool waited = first_heard_ != kNever && now - first_heard_ >= kJoinGrace;
  if (may_begin(around, waited)) {
    begin_with(now, kNoRank, out);
    self_.heartbeat_all(now, out);
  } else if (waited) {
    first_heard_ = now;  // no neighbour to begin with yet: wait for another moment
  }
}

bool Joining::on_snapshot(TimePoint now, const Neighbour& neighbour, const Snapshot& snapshot,
                          Actions& out) {
  ++copied_;
  if (copies_initial_) {
    const bool stepped = neighbour.report.steps.count > 0;  // it is a model by now
    if (stepped) puller_.plan().stop();
    coming_.keep(snapshot.bucket, snapshot.payload);
    const PullPlan& plan = puller_.plan();
    if (plan.active()) coming_.hash(neighbour.rank, plan.finished(), out);
    return false;
  }
  copying_from_ = neighbour.rank;
  out.push_back(action::Adopt{neighbour.rank, snapshot});
  if (!puller_.plan().finished()) return false;
  const bool other = self_.config.hello.initial_hash != origin_.hash;
  begin_with(now, neighbour.rank, out);
  if (other) handshake_.announce(now, out);
  return true;
}

void Joining::give_up(TimePoint now, Actions& out) {
  if (self_.state != WorkerState::kJoining) return;
  note_not_served();
  begin_with(now, kNoRank, out);
  self_.heartbeat_all(now, out);
}

TimePoint Joining::next() const {
  const bool waits = self_.state == WorkerState::kJoining && first_heard_ != kNever;
  return waits && !puller_.plan().active() ? first_heard_ + kJoinGrace : kNever;
}

}  // namespace stencil
