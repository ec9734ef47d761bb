#include "stencil/engine/engine.h"

#include <algorithm>

#include "stencil/core/error.h"

namespace stencil {
namespace {

/// Even a decline is kept until settled, so a neighbour that never says so must find an end. No
/// window is as large.
constexpr std::uint64_t kMaxUnreleased = 4096;

}  // namespace

Engine::Engine(EngineConfig config, TimePoint now)
    : config_(std::move(config)),
      buckets_(config_.buckets),
      sweeps_(config_.buckets, config_.sweeps_per_mille),
      pulls_(config_.buckets, config_.window),
      random_(Random::derive(config_.seed, 0x656e67ULL + config_.rank)),
      own_initial_hash_(config_.hello.initial_hash) {
  for (const Rank rank : config_.topology.neighbours(config_.rank)) {
    Edge edge;
    edge.rank = rank;
    // Epochs of two lives of one worker must not be mistaken for each other.
    edge.my_epoch = 1 + static_cast<std::uint32_t>(Random::derive(config_.hello.incarnation, rank) &
                                                   0x3fffffffU);
    edge.heard = edge.sent = edge.hello_sent = edge.swept = now;
    edges_.push_back(edge);
  }
  if (edges_.empty()) state_ = WorkerState::kTraining;
  if (config_.turns.empty()) config_.turns = Turns(config_.topology);
}

Edge* Engine::find(Rank rank) {
  const auto it = std::ranges::find(edges_, rank, &Edge::rank);
  return it == edges_.end() ? nullptr : &*it;
}

const Edge* Engine::edge(Rank rank) const {
  return const_cast<Engine*>(this)->find(rank);
}

Message Engine::stamp(MessageKind kind, Rank rank) {
  Message message;
  message.kind = kind;
  message.from = config_.rank;
  restamp(message, rank);
  return message;
}

void Engine::restamp(Message& message, Rank rank) {
  message.said = ++said_;
  message.state = state_;
  message.step = config_.mode.kind == Mode::Kind::kSync ? completed_round_ : step();
  message.calm = calm_;
  if (const Edge* e = edge(rank)) {
    message.sender_epoch = e->my_epoch;
    message.receiver_epoch = e->peer_epoch;
    message.settled = e->settled();
  }
}

void Engine::on_message(TimePoint now, const Message& message, Actions& out) {
  Edge* edge = find(message.from);
  if (edge == nullptr) return;
  switch (message.kind) {
    case MessageKind::kHello:
      if (!on_hello(now, *edge, message, out)) return;
      break;
    case MessageKind::kHelloRequest:
      if (edge->has_link) say_hello(now, *edge, out);
      return;
    case MessageKind::kRefusal:
      ++counters_.refusals;
      if (!edge->up()) edge->state = LinkState::kRefused;
      out.push_back({.kind = Action::Kind::kRefused, .rank = edge->rank, .text = message.text});
      return;
    case MessageKind::kLeave:
      // A last word: whoever says it may not have heard of our present epoch, and never will.
      if (edge->peer_epoch == 0 || message.sender_epoch != edge->peer_epoch) {
        ++counters_.stale_frames;
        return;
      }
      break;
    default:
      if (!edge->acknowledged || message.sender_epoch != edge->peer_epoch ||
          message.receiver_epoch != edge->my_epoch) {
        ++counters_.stale_frames;
        return;
      }
  }

  edge->heard = now;
  if (message.said >= edge->peer_said) {
    edge->peer_said = message.said;
    edge->peer_state = message.state;
    edge->steps.note(now, message.step);
    edge->peer_calm = message.calm;
  }
  if (edge->state == LinkState::kSuspect) {
    edge->state = LinkState::kUp;
    edge->swept_step = std::max(edge->swept_step, step());
    ++counters_.returned;
  }
  edge->note_pace(step(), config_.mode.bound);
  release(*edge, message.settled, out);
  switch (message.kind) {
    case MessageKind::kOffer:
      edge->moved = now;
      on_offer(now, *edge, message, out);
      break;
    case MessageKind::kReply:
      edge->moved = now;
      on_reply(now, *edge, message, out);
      break;
    case MessageKind::kPull:
      on_pull(now, *edge, message, out);
      break;
    case MessageKind::kSnapshot:
      edge->moved = now;
      on_snapshot(now, *edge, message, out);
      break;
    case MessageKind::kLeave:
      reset(*edge, out);
      edge->state = LinkState::kLeft;
      edge->acknowledged = false;
      break;
    default:
      break;
  }
  update_calm(now, out);
  consider_joining(now, out);
  issue(now, out);
}

void Engine::on_offer(TimePoint now, Edge& edge, const Message& message, Actions& out) {
  if (message.bucket >= config_.buckets) return;
  const std::uint64_t known = edge.answered + edge.held.size();
  if (message.sequence <= known) {
    ++counters_.duplicates;
    return;
  }
  if (message.sequence != known + 1) {
    ++counters_.gaps;
    begin(now, edge, out);
    return;
  }
  if (edge.unreleased() + edge.held.size() >= kMaxUnreleased) {
    ++counters_.violations;
    return;
  }
  const HeldOffer offer{
      .sequence = message.sequence, .bucket = message.bucket, .ahead = message.ahead, .since = now};
  if (!edge.held.empty() || must_hold(now, edge, offer)) {
    edge.held.push_back(offer);
    out.push_back({.kind = Action::Kind::kHold,
                   .rank = edge.rank,
                   .bucket = offer.bucket,
                   .sequence = offer.sequence});
    return;
  }
  take_offer(now, edge, offer, out);
}

void Engine::take_offer(TimePoint now, Edge& edge, const HeldOffer& offer, Actions& out) {
  edge.answered = offer.sequence;
  Action action{.rank = edge.rank, .bucket = offer.bucket, .sequence = offer.sequence};
  // On an ordered connection a crossing is seen by both ends or by none: had they answered our
  // offer before making theirs, the answer would have come first.
  if (const OpenOffer* crossing = edge.find_crossing(offer.bucket)) {
    ++counters_.merges;
    action.kind = Action::Kind::kMerge;
    action.own_sequence = crossing->sequence;
    edge.crossed.push_back({action.sequence, action.own_sequence});
    edge.retained.push_back(action.sequence);
    out.push_back(std::move(action));
    close(now, edge, out.back().own_sequence);
    return;
  }
  // Declines take no memory to speak of: were they counted, many askers could keep us busy for
  // ever.
  const bool may_mix = state_ != WorkerState::kJoining && state_ != WorkerState::kFrozen &&
                       retained() < config_.retained_total;
  const std::optional<std::uint8_t> divisor = may_mix ? buckets_.admit(offer.bucket) : std::nullopt;
  if (divisor) {
    ++counters_.answers;
    edge.retained.push_back(action.sequence);
    action.kind = Action::Kind::kAnswer;
    action.divisor = *divisor;
    if (*divisor == 2) note_met(now, edge, offer.bucket);
  } else {
    ++counters_.declined;
    action.kind = Action::Kind::kDecline;
    action.status = state_ == WorkerState::kFrozen ? ReplyStatus::kFrozen : ReplyStatus::kBusy;
  }
  out.push_back(std::move(action));
}

void Engine::on_reply(TimePoint now, Edge& edge, const Message& message, Actions& out) {
  const OpenOffer* offer = edge.find_open(message.sequence);
  if (offer == nullptr) {
    ++counters_.duplicates;
    return;
  }
  if (offer->bucket != message.bucket) {
    ++counters_.violations;
    return;
  }
  const Duration trip = now - offer->since;
  edge.round_trip += edge.round_trip.count() == 0 ? trip : (trip - edge.round_trip) / 8;
  out.push_back({.kind = Action::Kind::kSettle,
                 .rank = edge.rank,
                 .bucket = offer->bucket,
                 .sequence = message.sequence,
                 .divisor = message.divisor});
  close(now, edge, message.sequence);
}

void Engine::close(TimePoint now, Edge& edge, std::uint64_t sequence) {
  const OpenOffer offer = *edge.find_open(sequence);
  edge.erase_open(sequence);
  if (offer.parked) return;
  buckets_.close(offer.bucket);
  --open_total_;
  Sweep* sweep = sweeps_.find(edge.rank);
  if (sweep == nullptr) return;
  --sweep->unsettled;
  consider_complete(now, edge, *sweep);
}

void Engine::consider_complete(TimePoint now, Edge& edge, const Sweep& sweep) {
  if (sweep.unasked > 0 || sweep.unsettled > 0) return;
  sweeps_.end(sweep);
  ++counters_.sweeps;
  ++edge.sweeps;
  edge.swept = now;
  edge.swept_step = step();
}

void Engine::on_made(TimePoint now, std::uint32_t from, Actions& out) {
  if (state_ != WorkerState::kTraining) return;
  if (!making()) {
    earn();
  } else if (from >= made_from_) {
    return;
  }
  made_from_ = from;
  for (Sweep& sweep : sweeps_.active()) {
    if (sweep.step == sweeps_.earned()) sweep.cursor = from;
  }
  issue(now, out);
}

bool Engine::made(const Sweep& sweep, std::uint32_t bucket) const {
  return bucket >= made_from_ || sweep.step < sweeps_.earned();
}

void Engine::on_boundary(TimePoint now, std::uint64_t step, Actions& out) {
  if (step > this->step()) {
    paused_ = pause_ != Pause::kNone;
    steps_.note(now, step);
  }
  while (sweeps_.earned() < this->step()) earn();
  if (pause_ != Pause::kGathering) made_from_ = 0;
  const bool tell = config_.tell_every.count() > 0 && now - told_ >= config_.tell_every;
  if (tell || config_.mode.kind == Mode::Kind::kBounded) {
    told_ = now;
    heartbeat_all(now, out);
  }
  issue(now, out);
  due_ = unswept();
}

void Engine::on_pause(TimePoint now, Pause pause, Actions& out) {
  if (pause == pause_) return;
  pause_ = pause;
  paused_ |= pause != Pause::kNone;
  if (pause == Pause::kGathering) return;
  made_from_ = 0;
  issue(now, out);
  if (pause == Pause::kSweeping) due_ = unswept();
}

void Engine::on_state(TimePoint now, WorkerState state, Actions& out) {
  if (state == state_) return;
  state_ = state;
  made_from_ = 0;
  heartbeat_all(now, out);
  update_calm(now, out);
  issue(now, out);
}

void Engine::update_calm(TimePoint now, Actions& out) {
  const std::uint32_t most = all_calm_at();
  std::uint32_t calm = 0;
  if (state_ == WorkerState::kSettled || state_ == WorkerState::kFrozen) calm = most;
  if (state_ == WorkerState::kSettled) {
    for (const Edge& edge : edges_) {
      if (edge.up()) calm = std::min(calm, edge.peer_calm + 1);
    }
  }
  if (calm == calm_) return;
  calm_ = calm;
  heartbeat_all(now, out);
}

Engine::Limit Engine::limit() const {
  Limit limit;
  if (config_.mode.kind != Mode::Kind::kBounded || state_ != WorkerState::kTraining) return limit;
  for (const Edge& edge : edges_) {
    if (!edge.in_pace()) continue;
    const std::uint64_t step =
        std::min(edge.steps.count + edge.head_start, edge.swept_step) + config_.mode.bound;
    if (step < limit.step) limit = {step, edge.rank};
  }
  return limit;
}

std::size_t Engine::retained() const {
  std::size_t count = 0;
  for (const Edge& edge : edges_) count += edge.retained.size();
  return count;
}

std::size_t Engine::open_offers() const {
  std::size_t count = 0;
  for (const Edge& edge : edges_) {
    if (edge.living()) count += edge.open.size();
  }
  return count;
}

std::size_t Engine::awaited_offers() const {
  std::size_t count = 0;
  for (const Edge& edge : edges_) {
    if (edge.state == LinkState::kUp) count += edge.open.size();
  }
  return count;
}

bool Engine::replies_settled() const {
  return std::ranges::all_of(edges_,
                             [](const Edge& edge) { return !edge.up() || edge.unreleased() == 0; });
}

}  // namespace stencil
