#include "stencil/runtime/pump.h"

#include <algorithm>
#include <utility>

#include "stencil/core/error.h"
#include "stencil/mix/codecs/kinds.h"
#include "stencil/runtime/engine_config.h"

namespace stencil {
namespace {

/// Frames handled at a time, so that a neighbour that keeps sending cannot hold up this worker's
/// own work.
constexpr int kMostReceived = 256;
/// How often a bucket that another process holds is tried again, and, while this worker leaves, a
/// full link. Otherwise the transport asks for a turn once a full link takes a frame again.
constexpr Duration kRetryEvery = std::chrono::milliseconds(5);

/// Whether a neighbour is neither heard nor has agreed, and may have left.
bool away(const Neighbour& neighbour) {
  return neighbour.state != LinkState::kUp && neighbour.state != LinkState::kLeft &&
         neighbour.report.state != WorkerState::kFrozen;
}

EngineConfig checked(EngineConfig config, const Carried* carried, bool keys, const Layout& layout,
                     double rate) {
  config.proven |= keys;
  config.reply_deadline += wait_for_rate(config, layout, rate);
  check_codec(config.hello.codec, config.mode);
  config.carried = carried == nullptr ? 0 : carried->chunks();
  return config;
}

/// See PumpStatus::memory.
std::size_t held(Mixer& mixer, const PayloadForms& forms, const Neighbours& neighbours,
                 const CodecSpec& codec) {
  std::size_t bytes = mixer.segment().bytes() + mixer.aside_bytes() + forms.bytes() +
                      neighbours.size() * edge_codec_bytes(codec, mixer.layout());
  for (const Neighbour& neighbour : neighbours) {
    for (const HeldOffer& offer : neighbour.book.held) {
      bytes += view(offer.offer().payload).size();
    }
  }
  return bytes;
}

}  // namespace

Pump::Pump(PumpOptions options, Mixer& mixer, Transport& transport, Resolver resolver,
           const LogSink& log, TimePoint now, Meeting* meeting)
    : mixer_(mixer),
      transport_(transport),
      served_(options.keys ? Integrity::kProven : Integrity::kChecksum),
      complaints_(log),
      neighbours_(options.engine.grid.turns),
      engine_(checked(std::move(options.engine), options.carried, options.keys, mixer.layout(),
                      options.max_rate),
              neighbours_, now),
      edges_(edges_of(engine_.neighbours())),
      links_(engine_.config().rank, edges_, transport, std::move(resolver), log),
      settlement_(edges_, mixer.telemetry_bucket(), options.settle_threshold),
      forms_(engine_.config().hello.codec, mixer,
             options.carried == nullptr ? nothing_ : *options.carried, options.payloads),
      outbox_(transport, engine_.config().window, counters_.frames_dropped, served_,
              Pacer(options.max_rate)),
      executor_(engine_, edges_, mixer, options.carried == nullptr ? nothing_ : *options.carried,
                forms_, outbox_, settlement_, complaints_, counters_),
      reception_(options.keys, engine_, links_, transport, complaints_, counters_),
      sharing_(engine_, edges_, mixer, meeting, settlement_, complaints_, counters_),
      allowance_(options.data_cap, engine_.config().grid.sweeps_per_mille, engine_, edges_,
                 transport) {
  if (options.witness != nullptr) engine_.show(now, *options.witness);
  for (auto& [rank, edge] : edges_) edge.codec = forms_.make_codec(mixer.segment().y());
}

TimePoint Pump::turn(TimePoint now, const Standing& standing) {
  outbox_.advance(now);
  apply_standing(now, standing);
  if (left_) return after_leaving(now);
  bool more = receive_some(now);
  outbox_.flush(edges_);
  executor_.make_up();
  sharing_.meet(now, executor_, actions_);
  sharing_.watch(now);
  sharing_.share(now, executor_, actions_);
  update_settling(now, standing.awaits_until);
  if (engine_.next_deadline() <= now) {
    engine_.on_tick(now, actions_);
    act();
  }
  const TimePoint removal = remove_retired(now);
  const TimePoint dial = links_.tend(now);
  const TimePoint look = allowance_.heed(now, executor_, actions_);
  // Sending may have made frames ready to receive without waking any descriptor.
  more = receive_some(now) || more;
  outbox_.take_turns(edges_);
  if (more) return now;
  return std::min({engine_.next_deadline(), engine_.next_share(), dial, removal, look,
                   outbox_.next(edges_), status_.awaits ? standing.awaits_until : kNever,
                   executor_.owes() ? now + kRetryEvery : kNever});
}

void Pump::apply_wanted_state(TimePoint now, WorkerState wanted) {
  const WorkerState state = engine_.state();
  if (wanted == WorkerState::kSettling && state == WorkerState::kTraining) {
    sharing_.read_notes();
    settlement_.restart();
    engine_.on_state(now, WorkerState::kSettling, actions_);
  } else if (wanted == WorkerState::kFrozen && state != WorkerState::kFrozen) {
    engine_.on_state(now, WorkerState::kFrozen, actions_);
  }
  act();
}

void Pump::apply_standing(TimePoint now, const Standing& standing) {
  const bool sync = engine_.config().mode.kind == Mode::Kind::kSync;
  engine_.on_progress(mixer_.steps_known());
  engine_.on_first_batch(now, standing.first_batch, actions_);
  if (standing.stop_joining) engine_.give_up_joining(now, actions_);
  act();
  if (engine_.state() != WorkerState::kJoining) {
    apply_wanted_state(now, standing.wanted);
    if (sync && standing.round > published_) {
      published_ = standing.round;
      engine_.on_published(now, standing.round, actions_);
    } else if (!sync || standing.round == 0) {
      // These are one input: offers made in the pause of a boundary belong to that boundary's step.
      engine_.on_pause(now, standing.pause, actions_);
      if (standing.step > engine_.step()) engine_.on_boundary(now, standing.step, actions_);
      if (standing.made_from < mixer_.bucket_count()) {
        engine_.on_made(now, standing.made_from, actions_);
      }
    }
    act();
  }
  const bool takes_part = engine_.state() != WorkerState::kJoining &&
                          engine_.state() != WorkerState::kFrozen && !standing.leave;
  mixer_.segment().admit(takes_part && !sync);
  if (standing.leave && !std::exchange(left_, true)) leave(standing.pauses);
}

void Pump::leave(bool pauses) {
  outbox_.hurry();
  for (auto& [rank, edge] : edges_) {
    const Neighbour& neighbour = edge.neighbour;
    // Also where their answer to our Hello is still on its way: they may see us as up already.
    if (!neighbour.has_link || neighbour.life.their_epoch == 0) continue;
    if (neighbour.state == LinkState::kLeft) continue;
    outbox_.send(edge, engine_.message(rank, Leave{pauses}));
  }
}

/// Sends what is left to send. Hears nothing any more: a Hello to a link that only now comes up
/// would make neighbours believe that this worker is back.
TimePoint Pump::after_leaving(TimePoint now) {
  for (int i = 0; i < kMostReceived; ++i) {
    if (!transport_.receive()) break;
  }
  bool waiting = false;
  for (auto& [rank, edge] : edges_) {
    outbox_.flush(edge);
    waiting |= !edge.link.backlog.empty();
  }
  return waiting ? now + kRetryEvery : kNever;
}

void Pump::add(TimePoint now, const Place& place) {
  if (engine_.config().mode.kind == Mode::Kind::kSync) {
    throw InvariantError("Pump::add(): rounds in lock step go with those of the start");
  }
  const Neighbour* const before = neighbours_.find(place.rank);
  if (before != nullptr && before->retiring) return next_.push_back(place);
  engine_.add(now, place);
  Edge& edge = edges_.try_emplace(place.rank, engine_.neighbours().at(place.rank)).first->second;
  edge.codec = forms_.make_codec(mixer_.copy_y());
  settlement_.add(edge);
}

void Pump::remove(TimePoint now, Rank rank) {
  std::erase_if(next_, [rank](const Place& place) { return place.rank == rank; });
  const Neighbour* const neighbour = neighbours_.find(rank);
  if (neighbour != nullptr && !neighbour->retiring) {
    engine_.retire(now, rank, actions_);
    act();
  }
}

void Pump::follow(TimePoint now, const GridFigures& grid) {
  engine_.on_grid(now, allowance_.follow(grid), actions_);
  act();
}

TimePoint Pump::remove_retired(TimePoint now) {
  TimePoint next = kNever;
  for (auto it = edges_.begin(); it != edges_.end();) {
    const Rank rank = it->first;
    Edge& edge = it++->second;
    if (!engine_.retired(edge.neighbour)) continue;
    if (edge.neighbour.up()) {
      engine_.say_good_bye(now, rank, actions_);
      act();
      edge.link.closes = now + engine_.config().heartbeat_every;
    }
    if (now < edge.link.closes) {
      next = std::min(next, edge.link.closes);
      continue;
    }
    executor_.forget(rank);
    sharing_.forget(rank);
    links_.drop(edge);
    edges_.erase(rank);
    engine_.remove(now, rank, actions_);
    act();
    if (const auto place = std::ranges::find(next_, rank, &Place::rank); place != next_.end()) {
      const Place its = *place;
      next_.erase(place);
      add(now, its);
    }
    it = edges_.begin();
  }
  return next;
}

void Pump::update_settling(TimePoint now, TimePoint awaits_until) {
  const WorkerState state = engine_.state();
  status_.awaits = false;
  if (state != WorkerState::kSettling && state != WorkerState::kSettled) return;
  sharing_.read_notes();
  // A neighbour whose link is being restored still has to agree with us; one that stays silent is
  // not waited for.
  const Duration patience = engine_.config().suspect_after;
  const bool broken = std::any_of(edges_.begin(), edges_.end(), [&](const Edges::value_type& edge) {
    const Neighbour& neighbour = edge.second.neighbour;
    return neighbour.life.ever_heard && neighbour.living() && !neighbour.up() &&
           now - neighbour.times.heard < patience;
  });
  status_.awaits = now < awaits_until &&
                   std::any_of(edges_.begin(), edges_.end(), [](const Edges::value_type& edge) {
                     return away(edge.second.neighbour);
                   });
  const bool settled = !broken && !status_.awaits && settlement_.settled();
  status_.agreed = status_.agreed || (settled && settlement_.compared());
  if (settled == (state == WorkerState::kSettled)) return;
  engine_.on_state(now, settled ? WorkerState::kSettled : WorkerState::kSettling, actions_);
  act();
}

bool Pump::receive_some(TimePoint now) {
  for (int i = 0; i < kMostReceived; ++i) {
    std::optional<Received> received = transport_.receive();
    if (!received) return false;
    receive(now, std::move(*received));
  }
  return true;
}

void Pump::receive(TimePoint now, Received&& received) {
  switch (received.event) {
    case LinkEvent::kDown:
      return link_down(now, received.link);
    case LinkEvent::kUp:
      return link_up(now, received.link, received.proven);
    case LinkEvent::kFrame:
      return receive_frame(now, received);
  }
}

void Pump::link_up(TimePoint now, LinkId link, std::optional<Rank> proven) {
  const Edge* const dialled = links_.dialled_for(link);
  if (dialled == nullptr || !reception_.may_speak_for(dialled->rank(), proven)) return;
  if (Edge* const edge = links_.dialled_up(link)) {
    engine_.on_link_up(now, edge->rank(), actions_);
    act();
  }
}

void Pump::note_undecodable(const Edge* from, const Error& error) {
  ++(error.fault == Fault::kChecksum      ? counters_.checksum
     : error.fault == Fault::kPayloadSize ? counters_.payload_size
                                          : counters_.malformed);
  const std::string cause = "decode" + std::to_string(static_cast<int>(error.fault));
  if (from == nullptr) return complaints_.about_stranger(cause, error.text);
  complaints_.about(from->rank(), cause, error.text);
}

void Pump::receive_frame(TimePoint now, const Received& received) {
  Edge* from = links_.served_by(received.link);
  // A link that serves an edge was proven, also where its key has been revoked since.
  const bool proven = from != nullptr || received.proven;
  Result<Message> decoded = decode_frame(received.frame, proven ? served_ : Integrity::kChecksum);
  if (!decoded) return note_undecodable(from, decoded.error());
  const Message& message = *decoded;
  if (!reception_.may_send(received.link, message, received.proven)) {
    // The key was revoked while its link was up: the link must not be used any more.
    if (from != nullptr && received.proven != from->rank()) cut(now, *from);
    return;
  }
  if (from == nullptr) {
    from = reception_.hear(now, received.link, message);
    if (from == nullptr) return;
    engine_.on_link_up(now, from->rank(), actions_);
    act();
  }
  const auto refuse = [&](std::uint64_t& counter, const char* cause, const std::string& text) {
    ++counter;
    complaints_.about(from->rank(), cause, text);
  };
  if (message.header.from != from->rank()) {
    return refuse(counters_.unknown_senders, "sender",
                  "a message claims to come from rank " + std::to_string(message.header.from));
  }
  if (!forms_.fits(*from->codec, message)) {
    return refuse(counters_.payload_size, "size",
                  "a payload of " + std::to_string(view(payload_of(message)).size()) +
                      " bytes that no message of this run has");
  }
  if (!forms_.is_sound(message)) {
    return refuse(counters_.non_finite, "snapshot", "a snapshot that is not finite was refused");
  }
  engine_.on_message(now, from->rank(), message, actions_);
  act();
  if (const Hello* const hello = message.as<Hello>()) from->memory.token = hello->meeting;
  if (const Leave* const leave = message.as<Leave>()) from->link.paused = leave->paused;
}

void Pump::link_down(TimePoint now, LinkId link) {
  if (Edge* const edge = links_.down(link)) without_link(now, *edge);
}

void Pump::cut(TimePoint now, Edge& edge) {
  links_.drop(edge);
  without_link(now, edge);
}

void Pump::without_link(TimePoint now, Edge& edge) {
  edge.link.backlog.clear();
  engine_.on_link_down(now, edge.rank(), actions_);
  act();
}

const PumpStatus& Pump::status() {
  PumpStatus& s = status_;
  const OfferExchange& exchange = engine_.exchange();
  s.state = engine_.state();
  s.joined = s.state != WorkerState::kJoining;
  s.joined_from = engine_.joining().joined_from();
  s.initial = engine_.config().hello.initial();
  s.initial_by = engine_.joining().initial_by();
  s.adopted = engine_.joining().adopted();
  s.copying = engine_.joining().copying();
  s.copied = engine_.joining().copied();
  s.completed_round = engine_.rounds().completed();
  s.neighbours_completed = engine_.rounds().neighbours_completed(s.completed_round);
  s.limit = engine_.bound().limit();
  s.grid = engine_.config().grid;
  s.settle_threshold = settlement_.threshold();
  s.relative_distance = settlement_.relative_distance();
  s.payloads = forms_.made();
  s.refused = executor_.refused();
  s.turned_away = reception_.turned_away();
  s.engine = engine_.counters();
  s.pump = counters_;
  s.pump.deferred = mixer_.deferred();
  s.pump.inherited_locks = mixer_.inherited_locks();
  s.transport = transport_.stats();
  s.data = allowance_.cap().used();
  s.data_pace = allowance_.cap().pace();
  s.rests = allowance_.rests();
  s.memory = held(mixer_, forms_, neighbours_, engine_.config().hello.codec) + executor_.held() +
             engine_.joining().held() + s.transport.held;
  s.flushed = exchange.open_offers() == 0 && exchange.replies_applied() && !executor_.owes();
  s.may_freeze = s.state == WorkerState::kSettled && engine_.ending().all_settled() &&
                 exchange.awaited_offers() == 0 && !executor_.owes() && sharing_.notes_are_read();
  s.neighbours.clear();
  for (const auto& [rank, edge] : edges_) {
    const Neighbour& n = edge.neighbour;
    s.neighbours.push_back(
        {.rank = rank,
         .link = n.state,
         .state = n.report.state,
         .step = n.report.steps.count,
         .sweeps = n.sweeps,
         .bytes_sent = edge.link.bytes_sent,
         .first_batch = n.report.first_batch,
         .other_grid = n.report.grid_told,
         .paused = n.state == LinkState::kLeft && (edge.link.paused || allowance_.parted(rank)),
         .shared = n.shared,
         .bytes_shared = edge.memory.bytes,
         .round_trip = n.round_trip,
         .swept = n.times.swept,
         .moved = n.times.moved});
  }
  return s;
}

}  // namespace stencil
