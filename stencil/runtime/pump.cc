#include "stencil/runtime/pump.h"

#include <algorithm>
#include <functional>

#include "stencil/mix/codecs/kinds.h"
#include "stencil/wire/wire.h"

namespace stencil {
namespace {

/// Distinct causes of complaint remembered, so that a liar cannot fill memory or the log.
constexpr std::size_t kMaxComplaints = 256;
/// Frames handled at a time, so that none of this worker's own business waits for a neighbour that
/// always has more to say.
constexpr int kMostReceived = 256;
/// Frames waiting for a full link beyond both ends' windows: then what is said again is dropped.
constexpr std::size_t kMostWaiting = 64;

/// Whoever wants it asks for it again, or is told again.
bool may_be_dropped(const Message& message) {
  switch (message.kind) {
    case MessageKind::kHello:
    case MessageKind::kHelloRequest:
    case MessageKind::kHeartbeat:
    case MessageKind::kPull:
    case MessageKind::kSnapshot:
      return true;
    default:
      return false;
  }
}

}  // namespace

Pump::Pump(PumpOptions options, Mixer& mixer, Transport& transport, Resolver resolver, LogSink log,
           TimePoint now, Meeting* meeting)
    : mixer_(mixer),
      transport_(transport),
      meeting_(meeting),
      log_(std::move(log)),
      engine_(options.engine, now),
      links_(options.engine.rank, options.engine.topology.neighbours(options.engine.rank),
             transport, std::move(resolver), log_),
      settlement_(options.engine.topology.neighbours(options.engine.rank), mixer.telemetry_bucket(),
                  options.settle_threshold),
      weights_(options.engine.topology),
      pulled_as_(pulled_as(options.engine.hello.codec)) {
  pulled_ = make_codec(pulled_as_);
  check_codec(options.engine.hello.codec, options.engine.mode);
  for (const Rank rank : options.engine.topology.neighbours(options.engine.rank)) {
    Side side;
    side.rank = rank;
    const auto theirs = options.engine.topology.neighbours(rank);
    side.slot =
        static_cast<std::uint32_t>(std::ranges::find(theirs, options.engine.rank) - theirs.begin());
    side.codec = make_edge_codec(options.engine.hello.codec, mixer.layout(), mixer.segment().y());
    sides_.push_back(std::move(side));
  }
  for (std::uint32_t bucket = 0; !sides_.empty() && bucket < mixer.bucket_count(); ++bucket) {
    for (const bool exact : {true, false}) {
      for (const MessageKind kind :
           {MessageKind::kOffer, MessageKind::kReply, MessageKind::kSnapshot}) {
        largest_payload_ =
            std::max(largest_payload_, form(kind, sides_.front(), bucket, exact).bytes);
      }
    }
  }
}

TimePoint Pump::turn(TimePoint now, const Standing& standing) {
  apply_standing(now, standing);
  bool more = receive_some(now);
  for (Side& side : sides_) flush(side);
  make_up();
  meet(now);
  share(now);
  update_settling(now);
  if (engine_.next_deadline() <= now) {
    engine_.on_tick(now, actions_);
    act(nullptr);
  }
  const TimePoint dial = links_.tend(now);
  // Sending may have made frames ready to receive without waking any descriptor.
  more = receive_some(now) || more;
  const bool backlog = !owed_.empty() || std::ranges::any_of(sides_, [](const Side& s) {
    return !s.backlog.empty();
  });
  const TimePoint retry = backlog ? now + std::chrono::milliseconds(5) : kNever;
  if (more) return now;
  return std::min({engine_.next_deadline(), engine_.next_share(), dial, retry});
}

bool Pump::receive_some(TimePoint now) {
  for (int i = 0; i < kMostReceived; ++i) {
    std::optional<Received> received = transport_.receive();
    if (!received) return false;
    receive(now, std::move(*received));
  }
  return true;
}

void Pump::apply_standing(TimePoint now, const Standing& standing) {
  if (standing.stop_joining) engine_.give_up_joining(now, actions_);
  if (engine_.state() != WorkerState::kJoining) {
    const WorkerState state = engine_.state();
    if (standing.wanted == WorkerState::kSettling && state == WorkerState::kTraining) {
      read_notes();
      settlement_.restart();
      engine_.on_state(now, WorkerState::kSettling, actions_);
    } else if (standing.wanted == WorkerState::kFrozen && state != WorkerState::kFrozen) {
      engine_.on_state(now, WorkerState::kFrozen, actions_);
    }
    if (standing.round > 0 && engine_.config().mode.kind == Mode::Kind::kSync) {
      if (standing.round > published_) {
        published_ = standing.round;
        engine_.on_published(now, standing.round, actions_);
      }
    } else {
      engine_.on_pause(now, standing.pause, actions_);
      if (standing.step > engine_.step()) engine_.on_boundary(now, standing.step, actions_);
      if (standing.made_from < mixer_.bucket_count()) {
        engine_.on_made(now, standing.made_from, actions_);
      }
    }
  }
  act(nullptr);
  const bool takes_part = engine_.state() != WorkerState::kJoining &&
                          engine_.state() != WorkerState::kFrozen && !standing.leave;
  mixer_.segment().admit(takes_part && engine_.config().mode.kind != Mode::Kind::kSync);
  if (standing.leave && !left_) {
    left_ = true;
    for (Side& side : sides_) {
      // Also where their answer to our Hello is still under way: for them we may be up already.
      const Edge* edge = engine_.edge(side.rank);
      if (edge->has_link && edge->peer_epoch != 0 && edge->state != LinkState::kLeft) {
        transmit(side, engine_.stamp(MessageKind::kLeave, side.rank));
      }
    }
  }
}

void Pump::update_settling(TimePoint now) {
  const WorkerState state = engine_.state();
  if (state != WorkerState::kSettling && state != WorkerState::kSettled) return;
  read_notes();
  // A neighbour whose link is just being made anew is still one to agree with; one that stays
  // silent is not waited for.
  const Duration patience = engine_.config().suspect_after;
  const bool broken = std::ranges::any_of(engine_.edges(), [&](const Edge& edge) {
    return edge.ever_heard && edge.living() && !edge.up() && now - edge.heard < patience;
  });
  const bool settled = !broken && settlement_.settled(engine_.edges());
  if (settled == (state == WorkerState::kSettled)) return;
  engine_.on_state(now, settled ? WorkerState::kSettled : WorkerState::kSettling, actions_);
  act(nullptr);
}

void Pump::receive(TimePoint now, Received&& received) {
  if (received.event == LinkEvent::kDown) return link_down(now, received.link);
  if (received.event == LinkEvent::kUp) {
    if (const std::optional<Rank> rank = links_.dialled_up(received.link)) {
      engine_.on_link_up(now, *rank, actions_);
      act(nullptr);
    }
    return;
  }
  Result<Message> decoded = decode_frame(received.frame);
  if (!decoded) {
    ++(decoded.error().fault == Fault::kChecksum ? counters_.checksum : counters_.malformed);
    const Rank rank = links_.rank_of(received.link).value_or(kNoRank);
    return complain(rank, "decode" + std::to_string(static_cast<int>(decoded.error().fault)),
                    decoded.error().text);
  }
  receive_message(now, received.link, std::move(*decoded));
}

void Pump::receive_message(TimePoint now, LinkId link, Message&& message) {
  const std::optional<Rank> rank = links_.rank_of(link);
  if (!rank) return receive_stranger(now, link, message);
  if (message.from != *rank) {
    ++counters_.unknown_senders;
    return complain(*rank, "sender",
                    "a message claims to come from rank " + std::to_string(message.from));
  }
  if (!expected_size(message)) {
    ++counters_.payload_size;
    return complain(*rank, "size",
                    "a payload of " + std::to_string(view(message.payload).size()) +
                        " bytes for bucket " + std::to_string(message.bucket));
  }
  engine_.on_message(now, message, actions_);
  act(&message);
  if (message.kind == MessageKind::kHello) side(*rank).meeting = message.hello.meeting;
}

CodedForm Pump::form(MessageKind kind, const Side& side, std::uint32_t bucket, bool exact) const {
  const std::size_t floats = mixer_.floats(bucket);
  CodedForm form{kExact, floats * sizeof(float)};
  if (!exact) {
    form = kind == MessageKind::kOffer   ? side.codec->offer_form(floats)
           : kind == MessageKind::kReply ? side.codec->reply_form(floats)
                                         : CodedForm{pulled_as_, pulled_->encoded_size(floats)};
  }
  if (bucket != mixer_.telemetry_bucket()) return form;
  // The scalars pass no codec, yet an offer of them names the one that whole models are pulled in.
  const bool replied = kind == MessageKind::kReply && pulled_as_ != kExact;
  return {exact ? kExact : replied ? form.codec : pulled_as_, mixer_.telemetry_bytes()};
}

EdgeCodec& Pump::coding(Side& side, bool exact) {
  if (exact) return exact_;
  return *side.codec;
}

bool Pump::expected_size(const Message& message) {
  const std::size_t size = view(message.payload).size();
  const bool carries =
      message.kind == MessageKind::kOffer || message.kind == MessageKind::kSnapshot ||
      (message.kind == MessageKind::kReply && message.status == ReplyStatus::kDelta);
  if (!carries) return size == 0;
  if (message.kind == MessageKind::kReply && message.divisor == 0) return false;
  if (message.bucket >= mixer_.bucket_count()) return false;
  if (message.kind == MessageKind::kOffer && size == 0) return true;
  const bool joining = message.kind == MessageKind::kSnapshot && message.round == 0;
  const bool exact = message.kind == MessageKind::kSnapshot ? joining : message.codec == kExact;
  const CodedForm expected = form(message.kind, side(message.from), message.bucket, exact);
  return message.codec == expected.codec && size == expected.bytes;
}

/// A link that serves no edge: a neighbour that dialled us, or somebody lost.
void Pump::receive_stranger(TimePoint now, LinkId link, const Message& message) {
  const auto answer = [&](Message reply) { (void)transport_.send(link, encode_frame(reply)); };
  const bool neighbour = engine_.edge(message.from) != nullptr;
  if (!neighbour) {
    ++counters_.unknown_senders;
    if (message.kind == MessageKind::kHello) {
      Message refusal = engine_.stamp(MessageKind::kRefusal, kNoRank);
      refusal.text = "rank " + std::to_string(message.from) + " is no neighbour of rank " +
                     std::to_string(engine_.config().rank) + " in " +
                     engine_.config().topology.spec() + "; check the rank and the peer's address";
      answer(std::move(refusal));
    }
    return complain(message.from, "no neighbour",
                    "rank " + std::to_string(message.from) + " is no neighbour of ours");
  }
  if (message.kind == MessageKind::kRefusal) {
    // Whoever refuses us answers on the link that it refuses: this may be anybody.
    return complain(message.from, "stray refusal", "refused on another link: " + message.text);
  }
  if (message.kind != MessageKind::kHello) {
    if (message.kind != MessageKind::kHelloRequest) {
      answer(engine_.stamp(MessageKind::kHelloRequest, message.from));
    }
    return;
  }
  const EngineConfig& config = engine_.config();
  if (const auto why = mismatch(config.hello, message.hello, config.init_from_neighbour)) {
    Message refusal = engine_.stamp(MessageKind::kRefusal, message.from);
    refusal.text = *mismatch(message.hello, config.hello, false);
    answer(std::move(refusal));
    // Whoever dialled us by mistake must not end our run: it is told, and we only say so.
    return complain(message.from, "mismatch", *why);
  }
  if (!links_.accept(link, message.from)) return;
  engine_.on_link_up(now, message.from, actions_);
  engine_.on_message(now, message, actions_);
  act(nullptr);
  side(message.from).meeting = message.hello.meeting;
}

void Pump::refuse(const std::string& text) {
  if (refused_.empty()) refused_ = text;
}

void Pump::link_down(TimePoint now, LinkId link) {
  if (const std::optional<Rank> rank = links_.down(link)) {
    side(*rank).backlog.clear();
    engine_.on_link_down(now, *rank, actions_);
    act(nullptr);
  }
}

void Pump::transmit(Side& side, const Message& message) {
  const std::size_t most = kMostWaiting + 2 * engine_.config().window;
  const bool full = side.backlog.size() >= most && may_be_dropped(message);
  if (links_.link_of(side.rank) == 0 || full) {
    ++counters_.frames_dropped;
    return;
  }
  Frame frame = encode_frame(message);
  const auto place = place_in_line(side.backlog, 0, frame, std::identity());
  side.backlog.insert(place, std::move(frame));
  flush(side);
}

void Pump::flush(Side& side) {
  std::size_t sent = 0;
  SendStatus status = SendStatus::kSent;
  for (; sent < side.backlog.size(); ++sent) {
    Frame& frame = side.backlog[sent];
    const std::size_t bytes = frame.header.size() + view(frame.payload).size();
    status = transport_.send(links_.link_of(side.rank), std::move(frame));
    if (status != SendStatus::kSent) break;
    side.bytes_sent += bytes;
  }
  side.backlog.erase(side.backlog.begin(),
                     side.backlog.begin() + static_cast<std::ptrdiff_t>(sent));
  if (status == SendStatus::kDown) {
    // The link's end will be reported, but only after what arrived on it before, which may be
    // their good-bye. What is lost now is made up for when the edge is synchronised anew.
    counters_.frames_dropped += side.backlog.size();
    side.backlog.clear();
  }
}

Pump::Side& Pump::side(Rank rank) {
  return *std::ranges::find(sides_, rank, &Side::rank);
}

void Pump::complain(Rank rank, const std::string& cause, const std::string& text) {
  if (complained_.size() >= kMaxComplaints || !complained_.emplace(rank, cause).second) return;
  log_(LogLevel::kWarning,
       (rank == kNoRank ? std::string("a stranger") : "neighbour " + std::to_string(rank)) + ": " +
           text + " (said once; counted from now on)");
}

const PumpStatus& Pump::status() {
  PumpStatus& s = status_;
  s.state = engine_.state();
  s.joined = s.state != WorkerState::kJoining;
  s.joined_from = engine_.joined_from();
  s.copied = engine_.copied();
  s.completed_round = engine_.completed_round();
  s.neighbours_completed = engine_.neighbours_completed(s.completed_round);
  s.limit = engine_.limit();
  s.relative_distance = settlement_.relative_distance();
  s.payloads = payloads_.made();
  s.refused = refused_;
  s.engine = engine_.counters();
  s.pump = counters_;
  s.pump.inherited_locks = mixer_.inherited_locks();
  s.transport = transport_.stats();
  s.flushed = engine_.open_offers() == 0 && engine_.replies_settled() && owed_.empty();
  s.may_freeze = s.state == WorkerState::kSettled && engine_.all_calm() &&
                 engine_.awaited_offers() == 0 && owed_.empty() &&
                 mixer_.segment().noted() == notes_read_;
  s.neighbours.clear();
  for (const Edge& edge : engine_.edges()) {
    const auto it = std::ranges::find(sides_, edge.rank, &Side::rank);
    s.neighbours.push_back({edge.rank, edge.state, edge.peer_state, edge.steps.count, edge.sweeps,
                            it->bytes_sent, edge.shared, it->bytes_shared, edge.round_trip,
                            edge.swept});
  }
  return s;
}

}  // namespace stencil
