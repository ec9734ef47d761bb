#include "stencil/engine/engine.h"

#include <algorithm>

#include "stencil/core/error.h"

namespace stencil {

/// Shows an input and what was decided on it to the witness, where there is one, when the input is
/// dealt with. `describe` makes the Input.
template <typename Describe>
class Engine::Shown {
 public:
  Shown(Engine& engine, TimePoint now, const Actions& out, Describe describe)
      : engine_(engine), out_(out), before_(out.size()), describe_(describe) {
    engine.seen_ = now;
  }
  Shown(const Shown&) = delete;
  Shown& operator=(const Shown&) = delete;
  ~Shown() {
    if (engine_.witness_ == nullptr) return;
    engine_.witness_->saw(engine_.seen_, describe_(), std::span(out_).subspan(before_));
  }

 private:
  Engine& engine_;
  const Actions& out_;
  std::size_t before_;
  Describe describe_;
};

Engine::Engine(EngineConfig config, Neighbours& neighbours, TimePoint now)
    : self_(std::move(config), neighbours),
      sweeps_(self_.config.buckets, self_.counters.looked),
      turns_(self_, sweeps_),
      exchange_(self_, sweeps_, turns_),
      sharing_(self_, sweeps_, turns_, exchange_),
      bound_(self_),
      asking_(self_, sweeps_, turns_, exchange_, sharing_, bound_),
      handshake_(self_, exchange_),
      liveness_(self_, handshake_, exchange_),
      puller_(self_),
      joining_(self_, handshake_, puller_),
      rounds_(self_, puller_),
      ending_(self_),
      same_grid_(self_) {
  for (const Place& place : self_.config.neighbours) add_neighbour(now, place);
  if (neighbours.empty()) self_.state = WorkerState::kTraining;
}

void Engine::add_neighbour(TimePoint now, const Place& place) {
  handshake_.add(now, self_.neighbours.add(place));
}

void Engine::add(TimePoint now, const Place& place) {
  const Actions none;
  const Shown shown(*this, now, none, [&] { return input::Added{place}; });
  add_neighbour(now, place);
}

void Engine::retire(TimePoint now, Rank rank, Actions& out) {
  if (self_.in_lock_step()) {
    throw InvariantError("Engine::retire(): rounds in lock step go with all neighbours");
  }
  const Shown shown(*this, now, out, [&] { return input::Retired{rank}; });
  Neighbour& neighbour = self_.neighbours.at(rank);
  neighbour.retiring = true;
  self_.neighbours.free_turn(neighbour);
  sweeps_.end_all(neighbour);
  issue(now, out);
}

bool Engine::retired(const Neighbour& neighbour) const {
  const SequenceBook& book = neighbour.book;
  const bool complete = book.open.empty() && book.held.empty() && book.unreleased() == 0;
  return neighbour.retiring && (complete || !neighbour.living());
}

void Engine::say_good_bye(TimePoint now, Rank rank, Actions& out, Leave how) {
  const Shown shown(*this, now, out, [&] { return input::Parted{rank}; });
  handshake_.leave(now, self_.neighbours.at(rank), how, out);
}

void Engine::remove(TimePoint now, Rank rank, Actions& out) {
  const Shown shown(*this, now, out, [&] { return input::Removed{rank}; });
  exchange_.reset(self_.neighbours.at(rank));
  self_.neighbours.remove(rank);
  ending_.update(now, out);
  joining_.consider(now, out);
  issue(now, out);
}

void Engine::on_grid(TimePoint now, const GridFigures& grid, Actions& out) {
  const Shown shown(*this, now, out, [&] { return input::GridChanged{grid}; });
  self_.config.grid = grid;
  self_.neighbours.set_turns(grid.turns);
  same_grid_.changed(now);
  ending_.update(now, out);
  issue(now, out);
}

void Engine::on_link_up(TimePoint now, Rank rank, Actions& out) {
  const Shown shown(*this, now, out, [&] { return input::LinkUp{rank}; });
  Neighbour& neighbour = self_.neighbours.at(rank);
  neighbour.has_link = true;
  handshake_.synchronise(now, neighbour, out);
}

void Engine::on_link_down(TimePoint now, Rank rank, Actions& out) {
  const Shown shown(*this, now, out, [&] { return input::LinkDown{rank}; });
  Neighbour& neighbour = self_.neighbours.at(rank);
  if (!neighbour.has_link) return;
  liveness_.on_link_down(neighbour);
  ending_.update(now, out);
  issue(now, out);
}

/// A message about the connection itself. Returns whether the neighbour's present life has said it.
bool Engine::on_greeting(TimePoint now, Neighbour& neighbour, const Message& message,
                         Actions& out) {
  if (message.is<Hello>()) {
    const Handshake::Heard heard = handshake_.on_hello(now, neighbour, message, out);
    if (heard == Handshake::Heard::kSynchronised) {
      joining_.on_synchronised(now);
      puller_.plan().repeat(neighbour.rank);
      if (joining_.behind(neighbour)) follow(now, neighbour, message.header, out);
    }
    return heard != Handshake::Heard::kNothing;
  }
  if (const HelloRequest* request = message.as<HelloRequest>()) {
    handshake_.on_hello_request(now, neighbour, *request, out);
  } else if (const Refusal* refusal = message.as<Refusal>()) {
    handshake_.on_refusal(now, neighbour, *refusal, out);
  }
  return false;
}

/// A neighbour whose word is not taken is not averaged with either: its model, or ours, would be
/// dragged back.
void Engine::follow(TimePoint now, Neighbour& neighbour, const MessageHeader& header,
                    Actions& out) {
  if (joining_.believes(neighbour, header, out)) return start_over(now, out);
  neighbour.life.doubted = true;
}

/// Makes this worker adopt the model of a neighbour that is far ahead, instead of averaging with
/// it.
void Engine::start_over(TimePoint now, Actions& out) {
  joining_.start_over();
  turns_.on_state();
  for (Neighbour& neighbour : self_.neighbours) {
    sweeps_.end_all(neighbour);
    handshake_.start_over(now, neighbour, out);
  }
}

void Engine::on_message(TimePoint now, Rank rank, const Message& message, Actions& out) {
  const Shown shown(*this, now, out, [&] { return input::Heard{rank, message}; });
  Neighbour& neighbour = self_.neighbours.at(rank);
  const bool greeting = message.is<Hello>() || message.is<HelloRequest>() || message.is<Refusal>();
  const bool admitted =
      greeting ? on_greeting(now, neighbour, message, out) : handshake_.admits(neighbour, message);
  if (!admitted) return;
  liveness_.heard(now, neighbour, message.header);
  exchange_.release(neighbour, message.header.completed);
  handle(now, neighbour, message, out);
  joining_.compare_origins(now, neighbour, out);
  ending_.update(now, out);
  joining_.consider(now, out);
  issue(now, out);
}

void Engine::handle(TimePoint now, Neighbour& neighbour, const Message& message, Actions& out) {
  if (message.is<Offer>()) {
    neighbour.times.moved = now;
    const bool in_order = exchange_.on_offer(now, neighbour, message, out);
    if (!in_order) handshake_.synchronise(now, neighbour, out);
  } else if (message.is<Reply>()) {
    neighbour.times.moved = now;
    exchange_.on_reply(now, neighbour, message, out);
  } else if (const Pull* pull = message.as<Pull>()) {
    if (pull->round > 0) {
      rounds_.on_pull(neighbour, *pull, out);
    } else {
      joining_.on_pull(neighbour, *pull, out);
    }
  } else if (const Snapshot* snapshot = message.as<Snapshot>()) {
    neighbour.times.moved = now;
    on_snapshot(now, neighbour, *snapshot, out);
  } else if (const Heartbeat* heartbeat = message.as<Heartbeat>()) {
    if (heartbeat->first_batch != 0) neighbour.report.first_batch = heartbeat->first_batch;
    same_grid_.heard(now, neighbour, *heartbeat, out);
  } else if (message.is<Leave>()) {
    handshake_.on_leave(neighbour, message.header);
  }
}

void Engine::on_first_batch(TimePoint now, std::uint64_t hash, Actions& out) {
  if (hash == self_.first_batch) return;
  const Shown shown(*this, now, out, [&] { return input::FirstBatch{hash}; });
  self_.first_batch = hash;
  self_.heartbeat_all(now, out);
}

void Engine::on_snapshot(TimePoint now, Neighbour& neighbour, const Snapshot& snapshot,
                         Actions& out) {
  if (!puller_.plan().complete(neighbour.rank, snapshot.bucket, snapshot.round)) {
    ++self_.counters.duplicates;
    return;
  }
  const bool last = snapshot.round == 0 ? joining_.on_snapshot(now, neighbour, snapshot, out)
                                        : rounds_.on_snapshot(now, neighbour, snapshot, out);
  if (!last) return;
  self_.heartbeat_all(now, out);
  if (snapshot.round == 0) tell_of_progress(now, out);
}

/// Tells neighbours that are now far behind that this worker has adopted a model, so that they
/// adopt it in turn.
void Engine::tell_of_progress(TimePoint now, Actions& out) {
  const EngineConfig& config = self_.config;
  for (Neighbour& neighbour : self_.neighbours) {
    const bool behind = config.far_behind(neighbour.life.progress, config.hello.progress);
    if (behind && neighbour.up()) handshake_.synchronise(now, neighbour, out);
  }
}

void Engine::on_made(TimePoint now, std::uint32_t from, Actions& out) {
  if (!self_.training() || !turns_.on_made(from)) return;
  const Shown shown(*this, now, out, [&] { return input::Made{from}; });
  issue(now, out);
}

void Engine::on_boundary(TimePoint now, std::uint64_t step, Actions& out) {
  const Shown shown(*this, now, out, [&] { return input::Boundary{step}; });
  turns_.on_boundary(now, step);
  for (Neighbour& neighbour : self_.neighbours) {
    const bool steps = neighbour.in_pace();
    neighbour.unlike = steps ? 1 - likeness(neighbour.report.steps, self_.steps, now) : 1;
  }
  const EngineConfig& config = self_.config;
  const bool tell = config.tell_every.count() > 0 && now - told_at_ >= config.tell_every;
  if (tell || config.mode.kind == Mode::Kind::kBounded) {
    told_at_ = now;
    self_.heartbeat_all(now, out);
  }
  issue(now, out);
  turns_.note_unswept();
}

void Engine::on_pause(TimePoint now, Pause pause, Actions& out) {
  if (!turns_.on_pause(pause)) return;
  const Shown shown(*this, now, out, [&] { return input::Paused{pause}; });
  if (pause == Pause::kGathering) return;
  issue(now, out);
  if (pause == Pause::kSweeping) turns_.note_unswept();
}

void Engine::on_published(TimePoint now, std::uint64_t round, Actions& out) {
  const Shown shown(*this, now, out, [&] { return input::Published{round}; });
  rounds_.on_published(now, round, out);
  issue(now, out);
}

void Engine::on_state(TimePoint now, WorkerState state, Actions& out) {
  if (state == self_.state) return;
  const Shown shown(*this, now, out, [&] { return input::Wanted{state}; });
  self_.state = state;
  turns_.on_state();
  self_.heartbeat_all(now, out);
  ending_.update(now, out);
  issue(now, out);
}

void Engine::give_up_joining(TimePoint now, Actions& out) {
  if (self_.state != WorkerState::kJoining) return;
  const Shown shown(*this, now, out, [&] { return input::GaveUpJoining{}; });
  joining_.give_up(now, out);
}

void Engine::on_progress(double steps) {
  if (!self_.is_progress(steps)) return;
  const Actions none;
  const Shown shown(*this, seen_, none, [&] { return input::Progress{steps}; });
  self_.note_progress(steps);
}

void Engine::on_tick(TimePoint now, Actions& out) {
  const Shown shown(*this, now, out, [&] { return input::Tick{}; });
  for (Neighbour& neighbour : self_.neighbours) liveness_.tick(now, neighbour, out);
  ending_.update(now, out);
  joining_.consider(now, out);
  puller_.tick(now, out);
  issue(now, out);
}

void Engine::on_sharing(TimePoint now, Rank rank, bool shared, Actions& out) {
  Neighbour& neighbour = self_.neighbours.at(rank);
  if (neighbour.shared == shared) return;
  const Shown shown(*this, now, out, [&] { return input::Sharing{rank, shared}; });
  neighbour.shared = shared;
  sweeps_.sharing_changed();
  issue(now, out);
}

void Engine::take_shares(TimePoint now, Actions& out) {
  const Shown shown(*this, now, out, [&] { return input::TookShares{}; });
  sharing_.take(now, out);
}

void Engine::on_share(TimePoint now, Rank rank, std::uint32_t bucket, ShareResult result,
                      Actions& out) {
  const Shown shown(*this, now, out, [&] { return input::Shared{rank, bucket, result}; });
  sharing_.on_share(now, self_.neighbours.at(rank), bucket, result);
  issue(now, out);
}

void Engine::on_offer_made(Rank rank, std::uint64_t sequence, const MadeOffer& made, Actions& out) {
  const Shown shown(*this, seen_, out, [&] { return input::OfferMade{rank, sequence, made}; });
  exchange_.on_offer_made(self_.neighbours.at(rank), sequence, made, out);
}

void Engine::on_answered(Rank rank, const Reply& reply, Actions& out) {
  const Shown shown(*this, seen_, out, [&] { return input::Answered{rank, reply}; });
  exchange_.on_answered(self_.neighbours.at(rank), reply, out);
}

void Engine::on_start_hashed(Rank rank, std::uint64_t hash, Actions& out) {
  const Shown shown(*this, seen_, out, [&] { return input::StartHashed{rank, hash}; });
  joining_.on_start_hashed(seen_, self_.neighbours.at(rank), hash, out);
  ending_.update(seen_, out);
  joining_.consider(seen_, out);
  issue(seen_, out);
}

Message Engine::message(Rank to, MessageBody body) {
  Message message{.header = {}, .body = std::move(body)};
  stamp(message.header, to);
  return message;
}

void Engine::stamp(MessageHeader& header, Rank to) {
  const Actions none;
  const Shown shown(*this, seen_, none, [&] { return input::Stamped{to}; });
  self_.stamp(header, self_.neighbours.find(to));
}

void Engine::issue(TimePoint now, Actions& out) {
  puller_.issue(now, out);
  asking_.issue(now, out);
}

TimePoint Engine::next_deadline() const {
  TimePoint next = std::min({asking_.rest_until(), joining_.next(), puller_.next()});
  for (const Neighbour& neighbour : self_.neighbours) {
    next = std::min(next, liveness_.next(neighbour));
    if (neighbour.state != LinkState::kLeft && !neighbour.book.held.empty()) {
      next = std::min(next, turns_.held_until(neighbour.book.held.front()));
    }
  }
  return next;
}

}  // namespace stencil
