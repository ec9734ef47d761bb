// The engine's part in whom it asks, in which turn, and whom it has wait for theirs.
#include <algorithm>

#include "stencil/engine/engine.h"

namespace stencil {
namespace {

/// Offers of one neighbour that are held; larger windows are answered out of turn.
constexpr std::size_t kMostHeld = 64;
/// Sweeps planned at a time.
constexpr std::size_t kMostPlanned = 16;
/// Steps longer than others by more than this share of them are none to wait for.
constexpr double kUnlike = 0.25;
/// Where nothing of a step is made yet, offers of it wait for so much of its length at most. Found
/// by simulation: a twelfth lets workers meet whose steps vary by 0.3, and links that a step
/// keeps busy for half of its length do not fall behind (bench/results/cifar10-research.md).
constexpr int kIdleParts = 12;

}  // namespace

/// From the first part of a step that is made until the pause at its boundary is over. Over links
/// too slow to pause for, what comes out of turn is worth more than what comes too late.
bool Engine::in_turns() const {
  if (state_ != WorkerState::kTraining) return false;
  return pause_ != Pause::kNone || (making() && paused_);
}

/// While turns are kept a bucket goes on to the next neighbour only when it has been averaged with
/// the one before, here as there. So what is offered before its turn waits; and what shows a step
/// that the bucket has not made here yet waits until it has, if they are in step with us, or the
/// average would lack that step. It is answered at the latest when the pause is over, or see
/// held_until(). Nobody waits for anybody in a circle: a step is made without waiting, and a turn
/// waits for turns of lower numbers alone.
bool Engine::must_hold(TimePoint now, Edge& edge, const HeldOffer& offer) {
  const std::uint32_t bucket = offer.bucket;
  if (state_ != WorkerState::kTraining || now >= held_until(offer)) return false;
  if (edge.held.size() >= kMostHeld || edge.find_crossing(bucket) != nullptr) return false;
  if (pause_ == Pause::kNone) {
    if (!paused_ || !alike(edge.steps.every, steps_.every, kUnlike)) return false;
    if (!is_ahead(bucket)) return offer.ahead;
  }
  const Sweep* sweep = sweeps_.find_turn(edge.rank, bucket);
  return sweep != nullptr && (buckets_.is_open(bucket) || sweeps_.blocked(*sweep, bucket));
}

/// Before its reply is taken for lost; and while nothing of a step is made here, before links that
/// have much to carry have stood idle for long.
TimePoint Engine::held_until(const HeldOffer& offer) const {
  Duration most = config_.reply_deadline / 2;
  if (pause_ == Pause::kNone && !making()) most = std::min(most, steps_.every / kIdleParts);
  return offer.since + most;
}

/// In the order in which they came: an answer stands for all before it.
void Engine::take_held(TimePoint now, Actions& out) {
  for (bool any = true; any;) {
    any = false;
    for (Edge& edge : edges_) {
      while (!edge.held.empty() && !must_hold(now, edge, edge.held.front())) {
        const HeldOffer offer = edge.held.front();
        edge.held.erase(edge.held.begin());
        take_offer(now, edge, offer, out);
        any = true;
      }
    }
  }
}

void Engine::drop_held(Edge& edge, Actions& out) {
  if (edge.held.empty()) return;
  edge.held.clear();
  out.push_back({.kind = Action::Kind::kDrop, .rank = edge.rank});
}

/// What they asked for need not be asked for as well: it brought the newest of both.
void Engine::note_met(TimePoint now, Edge& edge, std::uint32_t bucket) {
  Sweep* sweep = sweeps_.find_turn(edge.rank, bucket);
  // At the boundary all is made, also what is not asked for before neighbours have come.
  if (sweep == nullptr || (pause_ == Pause::kNone && !made(*sweep, bucket))) return;
  sweep->pending[bucket] = false;
  --sweep->unasked;
  consider_complete(now, edge, *sweep);
}

/// A neighbour that still trains moves on with each of its steps; whoever has settled meanwhile
/// has nothing to gain from asking it without pause.
bool Engine::resting(TimePoint now, const Edge& edge) const {
  return state_ == WorkerState::kSettling && edge.peer_state == WorkerState::kTraining &&
         now - edge.swept < kSettlingPause;
}

bool Engine::may_ask(TimePoint now, const Edge& edge) {
  return edge.askable() && edge.open.empty() && sweeps_.find(edge.rank) == nullptr &&
         !resting(now, edge);
}

/// Bounded: this worker may not pass its boundary for want of a sweep with this neighbour.
bool Engine::overdue(const Edge& edge) const {
  return config_.mode.kind == Mode::Kind::kBounded && state_ == WorkerState::kTraining &&
         edge.peer_state == WorkerState::kTraining &&
         step() >= edge.swept_step + config_.mode.bound;
}

/// One of the two asked longest ago, at random: always the oldest would let workers fall into step.
/// In bounded mode whoever is overdue comes first, for this worker is waiting on it.
Edge* Engine::choose(TimePoint now) {
  Edge* oldest = nullptr;
  Edge* second = nullptr;
  for (Edge& edge : edges_) {
    if (!may_ask(now, edge)) continue;
    if (overdue(edge)) return &edge;
    if (oldest == nullptr || edge.ask_order < oldest->ask_order) {
      second = oldest;
      oldest = &edge;
    } else if (second == nullptr || edge.ask_order < second->ask_order) {
      second = &edge;
    }
  }
  if (second == nullptr) return oldest;
  return random_.below(2) == 0 ? oldest : second;
}

/// Sweeps go by turns (see Turns), so that both ends of an edge want it at the same time, and
/// what one asks for the other need not. Where a step has them all it begins with the first, so
/// that whoever has made other steps keeps the same order; where not, they go on from step to step.
void Engine::earn() {
  const std::uint64_t before = sweeps_.earned() * config_.sweeps_per_mille / 1000;
  sweeps_.earn();
  const std::size_t turns = config_.turns.count();
  turn_ = config_.sweeps_per_mille >= 1000 * turns ? 0 : before;
}

/// A turn is passed over where its partner cannot be asked, or a sweep of an earlier step with it
/// is still under way; who has no partner in a turn sits it out.
void Engine::plan() {
  const auto partners = config_.turns.of(config_.rank);
  const std::size_t in_a_step = (config_.sweeps_per_mille + 999) / 1000;
  const std::size_t most = std::min(std::max(in_a_step, edges_.size()), kMostPlanned);
  std::size_t passed = 0;
  while (sweeps_.may_begin() && sweeps_.active().size() < most && passed < partners.size()) {
    const Rank partner = partners[(turn_ + passed) % partners.size()];
    Edge* edge = find(partner);
    const Sweep* before = sweeps_.find(partner);
    const bool goes_on = before != nullptr && before->step < sweeps_.earned();
    if (edge == nullptr ? passed > 0 : !edge->askable() || goes_on) {
      ++passed;
      continue;
    }
    turn_ += passed + 1;
    passed = 0;
    sweeps_.spend();
    if (edge == nullptr) continue;
    edge->ask_order = ++asks_;
    sweeps_.begin(edge->rank, !edge->shared).cursor = made_from_;
  }
}

void Engine::issue(TimePoint now, Actions& out) {
  rest_until_ = kNever;
  issue_pulls(now, out);
  if (config_.mode.kind == Mode::Kind::kSync) return;
  if (state_ == WorkerState::kTraining) plan();
  take_held(now, out);
  if (state_ == WorkerState::kJoining || state_ == WorkerState::kFrozen) return;
  const bool settling = state_ == WorkerState::kSettling;
  auto& active = sweeps_.active();
  for (std::size_t i = 0; i < active.size(); ++i) {
    Sweep& sweep = active[i];
    sweep.begun |= pause_ != Pause::kGathering || state_ != WorkerState::kTraining;
    if (asks(sweep)) issue_offers(now, *find(sweep.rank), sweep, out);
  }
  for (const Edge& edge : edges_) {
    if (resting(now, edge)) rest_until_ = std::min(rest_until_, edge.swept + kSettlingPause);
  }
  while (open_total_ < config_.window_total) {
    const bool starved = std::ranges::any_of(
        edges_, [&](const Edge& edge) { return overdue(edge) && may_ask(now, edge); });
    if (!settling && !starved) return;
    Edge* edge = choose(now);
    if (edge == nullptr) return;
    edge->ask_order = ++asks_;
    Sweep& sweep = sweeps_.begin(edge->rank, false);
    sweep.begun = true;
    issue_offers(now, *edge, sweep, out);
  }
}

/// In shared memory only the telemetry goes by offers. A bucket that is about to be exchanged there
/// is left alone until then: that takes no time, while an offer would keep it open.
std::optional<std::uint32_t> Engine::next_offer(TimePoint now, const Edge& edge, Sweep& sweep) {
  if (!edge.shared) {
    return SweepBook::next(sweep, config_.buckets, [&](std::uint32_t bucket) {
      return made(sweep, bucket) && !buckets_.is_open(bucket) && !about_to_share(now, bucket) &&
             !(in_turns() && sweep.in_turn && sweeps_.blocked(sweep, bucket));
    });
  }
  if (!sweep.pending[telemetry()] || buckets_.is_open(telemetry())) return std::nullopt;
  SweepBook::take(sweep, telemetry());
  return telemetry();
}

void Engine::issue_offers(TimePoint now, Edge& edge, Sweep& sweep, Actions& out) {
  if (!edge.askable()) return;
  // An offer that is crossed is kept as an answer is, and cannot be declined by then.
  if (retained() >= config_.retained_total) return;
  while (edge.open.size() < config_.window && open_total_ < config_.window_total) {
    const std::optional<std::uint32_t> bucket = next_offer(now, edge, sweep);
    if (!bucket) return;
    buckets_.open(*bucket);
    ++open_total_;
    ++counters_.offers;
    edge.open.push_back({edge.next_offer, *bucket, now, false});
    out.push_back({.kind = Action::Kind::kOffer,
                   .rank = edge.rank,
                   .bucket = *bucket,
                   .sequence = edge.next_offer++});
    edge.sent = now;
  }
}

}  // namespace stencil
