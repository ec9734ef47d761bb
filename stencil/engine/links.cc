// The engine's other half: links, epochs, liveness, joining and pulls.
#include <algorithm>

#include "stencil/engine/engine.h"

namespace stencil {
namespace {

/// How long a newcomer that hears only fellow newcomers waits for an established neighbour.
constexpr Duration kJoinGrace = std::chrono::seconds(5);

}  // namespace

void Engine::send(TimePoint now, Edge& edge, Message message, Actions& out) {
  edge.sent = now;
  out.push_back({.kind = Action::Kind::kSend, .rank = edge.rank, .message = std::move(message)});
}

void Engine::say_hello(TimePoint now, Edge& edge, Actions& out) {
  Message message = stamp(MessageKind::kHello, edge.rank);
  message.hello = config_.hello;
  message.hello.incarnation += edge.generation;
  message.hello.last_answered = edge.answered;
  message.hello.last_settled = edge.settled();
  edge.hello_sent = now;
  edge.told = true;
  send(now, edge, std::move(message), out);
}

void Engine::heartbeat_all(TimePoint now, Actions& out) {
  for (Edge& edge : edges_) {
    if (edge.up()) send(now, edge, stamp(MessageKind::kHeartbeat, edge.rank), out);
  }
}

void Engine::begin(TimePoint now, Edge& edge, Actions& out) {
  ++edge.my_epoch;
  ++counters_.resynchronised;
  edge.acknowledged = false;
  edge.told = false;
  drop_held(edge, out);
  say_hello(now, edge, out);
}

void Engine::on_link_up(TimePoint now, Rank rank, Actions& out) {
  Edge* edge = find(rank);
  if (edge == nullptr) return;
  edge->has_link = true;
  begin(now, *edge, out);
}

void Engine::on_link_down(TimePoint now, Rank rank, Actions& out) {
  Edge* edge = find(rank);
  if (edge == nullptr || !edge->has_link) return;
  edge->has_link = false;
  edge->acknowledged = false;
  if (edge->state == LinkState::kUp) {
    edge->state = LinkState::kSuspect;
    ++counters_.suspected;
  }
  park(*edge, out);
  update_calm(now, out);
  issue(now, out);
}

/// A silent neighbour must not hold up buckets: they may be offered to others, while what it may
/// have answered stays on the books until it returns or is given up.
void Engine::park(Edge& edge, Actions& out) {
  for (OpenOffer& offer : edge.open) {
    if (offer.parked) continue;
    offer.parked = true;
    buckets_.close(offer.bucket);
    --open_total_;
    out.push_back({.kind = Action::Kind::kPark,
                   .rank = edge.rank,
                   .bucket = offer.bucket,
                   .sequence = offer.sequence});
  }
  sweeps_.end_all(edge.rank);
}

void Engine::reset(Edge& edge, Actions& out) {
  park(edge, out);
  for (const OpenOffer& offer : edge.open) {
    ++counters_.lost_in_flight;
    out.push_back({.kind = Action::Kind::kLost,
                   .rank = edge.rank,
                   .bucket = offer.bucket,
                   .sequence = offer.sequence});
  }
  counters_.lost_in_flight += edge.retained.size();
  drop_held(edge, out);
  edge.open.clear();
  edge.crossed.clear();
  edge.retained.clear();
  edge.next_offer = 1;
  edge.answered = edge.released = 0;
  out.push_back({.kind = Action::Kind::kForget, .rank = edge.rank});
}

void Engine::release(Edge& edge, std::uint64_t settled, Actions& out) {
  settled = std::min(settled, edge.answered);
  if (settled <= edge.released) return;
  edge.released = settled;
  std::erase_if(edge.retained, [settled](std::uint64_t sequence) { return sequence <= settled; });
  std::erase_if(edge.crossed, [settled](const Crossed& c) { return c.theirs <= settled; });
  out.push_back({.kind = Action::Kind::kRelease, .rank = edge.rank, .sequence = settled});
}

bool Engine::on_hello(TimePoint now, Edge& edge, const Message& message, Actions& out) {
  if (const auto why = mismatch(config_.hello, message.hello, config_.init_from_neighbour)) {
    ++counters_.refusals;
    Message refusal = stamp(MessageKind::kRefusal, edge.rank);
    refusal.text = *mismatch(message.hello, config_.hello, false);
    if (!edge.up()) edge.state = LinkState::kRefused;
    send(now, edge, std::move(refusal), out);
    out.push_back({.kind = Action::Kind::kRefused, .rank = edge.rank, .text = *why});
    return false;
  }
  if (message.hello.incarnation != edge.peer_incarnation) {
    if (message.hello.incarnation < edge.peer_incarnation) return false;
    if (edge.peer_incarnation != 0) {
      reset(edge, out);
      ++edge.my_epoch;
    }
    edge.peer_incarnation = message.hello.incarnation;
    edge.fresh = message.state == WorkerState::kJoining;
    edge.peer_epoch = 0;
    edge.acknowledged = false;
  }
  if (message.sender_epoch != edge.peer_epoch) {
    const auto ahead = static_cast<std::int32_t>(message.sender_epoch - edge.peer_epoch);
    if (edge.peer_epoch != 0 && ahead < 0) return false;
    drop_held(edge, out);
    edge.peer_epoch = message.sender_epoch;
    edge.peer_said = 0;
    edge.acknowledged = false;
    edge.told = false;
  }
  const bool exact = message.receiver_epoch == edge.my_epoch;
  if (!exact || !edge.told) say_hello(now, edge, out);
  if (!exact || edge.acknowledged) return exact;
  edge.acknowledged = true;
  edge.peer_initial_hash = message.hello.initial_hash;
  if (!edge.ever_heard && first_heard_ == kNever) first_heard_ = now;
  if (edge.ever_heard && edge.state != LinkState::kUp) ++counters_.returned;
  edge.ever_heard = true;
  edge.state = LinkState::kUp;
  edge.swept_step = std::max(edge.swept_step, step());
  take_counters(edge, message.hello, out);
  pulls_.repeat(edge.rank);
  return true;
}

/// What they have not answered never arrived and is withdrawn; what we answered and they have not
/// settled is sent again. Our own crossed offers stand in for answers, so those that they have not
/// seen are sent again too, numbered to follow what they saw.
void Engine::take_counters(Edge& edge, const Hello& hello, Actions& out) {
  for (auto it = edge.open.begin(); it != edge.open.end();) {
    if (it->sequence <= hello.last_answered) {
      ++it;
      continue;
    }
    ++counters_.withdrawn;
    out.push_back({.kind = Action::Kind::kWithdraw,
                   .rank = edge.rank,
                   .bucket = it->bucket,
                   .sequence = it->sequence});
    if (!it->parked) {
      buckets_.close(it->bucket);
      --open_total_;
      if (Sweep* sweep = sweeps_.find(edge.rank)) {
        sweep->pending[it->bucket] = true;
        ++sweep->unasked;
        --sweep->unsettled;
      }
    }
    it = edge.open.erase(it);
  }
  release(edge, hello.last_settled, out);
  edge.next_offer = hello.last_answered + 1;
  out.push_back({.kind = Action::Kind::kResend,
                 .rank = edge.rank,
                 .sequence = hello.last_settled,
                 .own_sequence = edge.next_offer});
  for (Crossed& crossed : edge.crossed) {
    if (crossed.ours > hello.last_answered) crossed.ours = edge.next_offer++;
  }
}

void Engine::on_tick(TimePoint now, Actions& out) {
  for (Edge& edge : edges_) check_edge(now, edge, out);
  update_calm(now, out);
  consider_joining(now, out);
  for (const PullPlan::Pull& pull : pulls_.overdue(now - config_.reply_deadline, now)) {
    if (find(pull.rank)->moved <= now - config_.reply_deadline) send_pull(now, pull, out);
  }
  issue(now, out);
}

/// Who refused us will do so again, unless somebody restarts it rightly at the same address.
Duration Engine::hello_every(const Edge& edge) const {
  return edge.state == LinkState::kRefused ? config_.gone_after : config_.hello_every;
}

void Engine::check_edge(TimePoint now, Edge& edge, Actions& out) {
  if (edge.state == LinkState::kLeft) return;
  if (edge.ever_heard && edge.state == LinkState::kUp &&
      now - edge.heard >= config_.suspect_after) {
    edge.state = LinkState::kSuspect;
    edge.paced = false;
    ++counters_.suspected;
    park(edge, out);
  }
  if (edge.state == LinkState::kSuspect && now - edge.heard >= config_.gone_after) {
    edge.state = LinkState::kGone;
    ++counters_.gone;
    reset(edge, out);
    ++edge.generation;
    edge.peer_incarnation = 0;
    ++edge.my_epoch;
    edge.acknowledged = false;
  }
  if (!edge.has_link) return;
  if (!edge.acknowledged) {
    if (now - edge.hello_sent < hello_every(edge)) return;
    say_hello(now, edge, out);
    // Should they think all is well, our Hello is one they have seen: ask for theirs by name.
    send(now, edge, stamp(MessageKind::kHelloRequest, edge.rank), out);
    return;
  }
  if (edge.state == LinkState::kUp && !edge.open.empty() && now >= reply_due(edge)) {
    // All that is open is asked for anew, and given as long again.
    for (OpenOffer& offer : edge.open) offer.since = now;
    begin(now, edge, out);
    return;
  }
  if (now - edge.sent >= config_.heartbeat_every) {
    send(now, edge, stamp(MessageKind::kHeartbeat, edge.rank), out);
  }
}

/// Over a thin link what was asked for may come late, behind much else that was; asking again would
/// send all of it once more. So while anything comes it is waited for, though not for ever.
TimePoint Engine::reply_due(const Edge& edge) const {
  constexpr int kForEver = 30;
  const TimePoint asked = edge.open.front().since;
  return std::min(std::max(asked, edge.moved) + config_.reply_deadline,
                  asked + kForEver * config_.reply_deadline);
}

TimePoint Engine::next_deadline() const {
  TimePoint next = kNever;
  const auto at = [&](TimePoint time) { next = std::min(next, time); };
  for (const Edge& edge : edges_) {
    if (edge.state == LinkState::kLeft) continue;
    if (edge.state == LinkState::kUp) at(edge.heard + config_.suspect_after);
    if (edge.state == LinkState::kSuspect) at(edge.heard + config_.gone_after);
    if (!edge.held.empty()) at(held_until(edge.held.front()));
    if (!edge.has_link) continue;
    if (!edge.acknowledged) {
      at(edge.hello_sent + hello_every(edge));
      continue;
    }
    at(edge.sent + config_.heartbeat_every);
    if (edge.state == LinkState::kUp && !edge.open.empty()) {
      at(reply_due(edge));
    }
  }
  at(rest_until_);
  if (state_ == WorkerState::kJoining && first_heard_ != kNever && !pulls_.active()) {
    at(first_heard_ + kJoinGrace);
  }
  if (const TimePoint oldest = pulls_.oldest(); oldest != kNever) {
    at(oldest + config_.reply_deadline);
  }
  return next;
}

void Engine::joined(Rank from, Actions& out) {
  if (from == kNoRank && copying_from_ != kNoRank) {
    config_.hello.initial_hash = own_initial_hash_;
    for (std::uint32_t bucket = 0; bucket < config_.buckets; ++bucket) {
      out.push_back({.kind = Action::Kind::kDiscard, .rank = copying_from_, .bucket = bucket});
    }
  }
  joined_from_ = from;
  state_ = WorkerState::kTraining;
  pulls_.stop();
}

/// A newcomer copies an established neighbour; where all neighbours are newcomers too, all begin
/// with the weights they have. It waits a moment for neighbours that have not spoken yet, and for
/// none where all have left.
void Engine::consider_joining(TimePoint now, Actions& out) {
  if (state_ != WorkerState::kJoining) return;
  if (pulls_.active()) {
    const Edge* source = edge(pulls_.sources().front());
    if (source->up()) return;
    pulls_.stop();
  }
  bool all_heard = true;
  bool all_left = true;
  bool any_fresh = false;
  for (const Edge& edge : edges_) {
    all_heard &= edge.ever_heard;
    all_left &= edge.state == LinkState::kLeft;
    if (!edge.up()) continue;
    const bool established = !edge.fresh && edge.peer_state != WorkerState::kJoining &&
                             (edge.steps.count > 0 || edge.peer_state != WorkerState::kTraining);
    const bool foreign = edge.peer_initial_hash != config_.hello.initial_hash;
    const bool follows =
        foreign && config_.init_from_neighbour && (edge.peer_state != WorkerState::kJoining);
    if ((established && config_.mode.kind != Mode::Kind::kSync) || follows) {
      config_.hello.initial_hash = edge.peer_initial_hash;
      pulls_.start(0, {&edge.rank, 1});
      issue_pulls(now, out);
      return;
    }
    any_fresh |= !foreign || config_.rank < edge.rank;
  }
  const bool waited = first_heard_ != kNever && now - first_heard_ >= kJoinGrace;
  if (all_left || (any_fresh && (all_heard || waited))) {
    joined(kNoRank, out);
    heartbeat_all(now, out);
  } else if (waited) {
    first_heard_ = now;  // nobody to begin with yet: look again after another moment
  }
}

void Engine::give_up_joining(TimePoint now, Actions& out) {
  if (state_ != WorkerState::kJoining) return;
  joined(kNoRank, out);
  heartbeat_all(now, out);
}

void Engine::issue_pulls(TimePoint now, Actions& out) {
  while (const std::optional<PullPlan::Pull> pull = pulls_.next(now)) {
    send_pull(now, *pull, out);
  }
}

void Engine::send_pull(TimePoint now, const PullPlan::Pull& pull, Actions& out) {
  Edge* edge = find(pull.rank);
  if (!edge->up()) return;
  Message message = stamp(MessageKind::kPull, pull.rank);
  message.bucket = pull.bucket;
  message.round = pulls_.round();
  send(now, *edge, std::move(message), out);
}

void Engine::on_pull(TimePoint /*now*/, Edge& edge, const Message& message, Actions& out) {
  if (message.bucket >= config_.buckets) return;
  if (message.round > published_round_) {
    const auto waiting = std::ranges::count(parked_pulls_, edge.rank, &ParkedPull::rank);
    if (waiting < static_cast<std::ptrdiff_t>(config_.window)) {
      parked_pulls_.push_back({edge.rank, message.bucket, message.round});
    }
    return;
  }
  if (message.round != 0 && message.round != published_round_) {
    ++counters_.duplicates;
    return;
  }
  if (message.round == 0 && state_ == WorkerState::kJoining) return;
  out.push_back({.kind = Action::Kind::kServe,
                 .rank = edge.rank,
                 .bucket = message.bucket,
                 .sequence = message.round});
}

void Engine::on_snapshot(TimePoint now, Edge& edge, const Message& message, Actions& out) {
  if (!pulls_.complete(edge.rank, message.bucket, message.round)) {
    ++counters_.duplicates;
    return;
  }
  const bool joining = message.round == 0;
  if (joining) {
    copying_from_ = edge.rank;
    ++copied_;
  }
  out.push_back({.kind = joining ? Action::Kind::kAdopt : Action::Kind::kAbsorb,
                 .rank = edge.rank,
                 .bucket = message.bucket});
  if (!pulls_.finished()) return;
  if (joining) {
    joined(edge.rank, out);
  } else {
    completed_round_ = pulls_.round();
    steps_.note(now, completed_round_);
    pulls_.stop();
  }
  heartbeat_all(now, out);
}

void Engine::on_published(TimePoint now, std::uint64_t round, Actions& out) {
  published_round_ = round;
  pulls_.start(round, config_.topology.neighbours(config_.rank));
  if (pulls_.finished()) {
    completed_round_ = round;
    steps_.note(now, round);
    pulls_.stop();
  }
  for (const ParkedPull& pull : parked_pulls_) {
    if (pull.round != round) continue;
    out.push_back({.kind = Action::Kind::kServe,
                   .rank = pull.rank,
                   .bucket = pull.bucket,
                   .sequence = pull.round});
  }
  parked_pulls_.clear();
  issue(now, out);
}

bool Engine::neighbours_completed(std::uint64_t round) const {
  return std::ranges::all_of(edges_, [&](const Edge& edge) { return edge.steps.count >= round; });
}

}  // namespace stencil
