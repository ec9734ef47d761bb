// The pump's other half: carrying out the engine's actions on payloads.
#include <algorithm>

#include "stencil/runtime/pump.h"

namespace stencil {

bool Pump::finishing() const {
  return engine_.state() == WorkerState::kSettling || engine_.state() == WorkerState::kSettled;
}

bool Pump::telling(const Message& message, const Sent* offer) const {
  if (!finishing()) return true;
  const bool theirs =
      message.state == WorkerState::kSettling || message.state == WorkerState::kSettled;
  return theirs && message.codec == kExact && (offer == nullptr || offer->finishing);
}

void Pump::act(const Message* in_hand) {
  for (Action& action : actions_) act_on(action, in_hand);
  actions_.clear();
}

void Pump::act_on(Action& action, const Message* in_hand) {
  Side& side = this->side(action.rank);
  switch (action.kind) {
    case Action::Kind::kSend:
      return transmit(side, *action.message);
    case Action::Kind::kOffer:
      return make_offer(side, action);
    case Action::Kind::kHold:
      side.held.push_back(*in_hand);
      return;
    case Action::Kind::kDrop:
      side.held.clear();
      return;
    case Action::Kind::kAnswer:
      return answer(side, action, offer_of(side, action, in_hand));
    case Action::Kind::kDecline:
      (void)offer_of(side, action, in_hand);
      return decline(side, action, action.status);
    case Action::Kind::kMerge:
      return merge(side, action, offer_of(side, action, in_hand));
    case Action::Kind::kSettle:
      return settle(side, action, *in_hand);
    case Action::Kind::kShare:
      return;  // done where it is asked for, see share()
    case Action::Kind::kPark:
      return close(action.bucket);
    case Action::Kind::kWithdraw:
    case Action::Kind::kLost:
      std::erase_if(side.sent, [&](const Sent& s) { return s.sequence == action.sequence; });
      return close(action.bucket);
    case Action::Kind::kRelease:
      std::erase_if(side.kept, [&](const Kept& k) { return k.sequence <= action.sequence; });
      return;
    case Action::Kind::kResend:
      return resend(side, action);
    case Action::Kind::kForget:
      side.kept.clear();
      side.backlog.clear();
      side.meeting.clear();
      if (meeting_ != nullptr) meeting_->forget(side.rank);
      return;
    case Action::Kind::kServe:
      return apply_or_owe({action.kind, side.rank, action.bucket, action.sequence, {}, {}});
    case Action::Kind::kDiscard:
      return apply_or_owe({action.kind, side.rank, action.bucket, 0, {}, {}});
    case Action::Kind::kAdopt:
    case Action::Kind::kAbsorb:
      return apply_or_owe({action.kind, side.rank, action.bucket, 0, *in_hand, {}});
    case Action::Kind::kRefused:
      complain(action.rank, "refused", action.text);
      return refuse("neighbour " + std::to_string(action.rank) + ": " + action.text);
  }
}

Message Pump::offer_of(Side& side, const Action& action, const Message* in_hand) {
  const auto it = std::ranges::find(side.held, action.sequence, &Message::sequence);
  if (it == side.held.end()) return *in_hand;
  Message offer = std::move(*it);
  side.held.erase(it);
  return offer;
}

std::span<std::byte> Pump::give_payload(Message& message, std::size_t bytes) {
  BucketMemory* const memory = payloads_.take();
  message.payload = Payload(memory);
  return memory->use(bytes, largest_payload_);
}

void Pump::make_offer(Side& side, const Action& action) {
  Message message = engine_.stamp(MessageKind::kOffer, side.rank);
  message.bucket = action.bucket;
  message.sequence = action.sequence;
  message.ahead = engine_.is_ahead(action.bucket);
  const CodedForm form = this->form(message.kind, side, action.bucket, finishing());
  message.codec = form.codec;
  const std::span<std::byte> bytes = give_payload(message, form.bytes);
  const MixReport report =
      mixer_.offer(action.bucket, coding(side, message.codec == kExact), bytes);
  if (!report.applied && report.why == MixReport::Why::kNotFinite) {
    // Our own model is broken; the training thread will find out at its boundary. Until then the
    // sequence must not have a hole: offer nothing, and let the edge be synchronised anew.
    ++counters_.own_non_finite;
    return;
  }
  if (!report.applied) {
    // The bucket is held. The sequence must not have a hole, and cannot wait: an offer of nothing.
    ++counters_.put_off;
    message.payload = Payload();
  }
  side.sent.push_back(
      {action.sequence, action.bucket, message.codec, message.payload, finishing(), report.norm2});
  transmit(side, message);
}

void Pump::answer(Side& side, const Action& action, const Message& offer) {
  Message reply = engine_.stamp(MessageKind::kReply, side.rank);
  reply.bucket = action.bucket;
  reply.sequence = action.sequence;
  reply.divisor = action.divisor;
  if (!offer.payload) return decline(side, action, ReplyStatus::kBusy);
  const bool exact = offer.codec == kExact;
  const CodedForm form = this->form(reply.kind, side, action.bucket, exact);
  reply.codec = form.codec;
  const std::span<std::byte> bytes = give_payload(reply, form.bytes);
  const MixReport report =
      mixer_.answer(action.bucket, coding(side, exact), view(offer.payload), action.divisor, bytes);
  if (report.why == MixReport::Why::kHeld || report.why == MixReport::Why::kBusy) {
    return decline(side, action, ReplyStatus::kBusy);
  }
  if (!report.applied) {
    reject(side.rank, report, "offer", "an offer");
    return decline(side, action, ReplyStatus::kRejected);
  }
  settlement_.measured(side.rank, action.bucket, report.distance2, report.norm2, action.divisor,
                       telling(offer, nullptr));
  side.kept.push_back({action.sequence, 0, reply});
  transmit(side, reply);
}

void Pump::decline(Side& side, const Action& action, ReplyStatus status) {
  Message reply = engine_.stamp(MessageKind::kReply, side.rank);
  reply.bucket = action.bucket;
  reply.sequence = action.sequence;
  reply.status = status;
  side.kept.push_back({action.sequence, 0, reply});
  transmit(side, reply);
}

void Pump::merge(Side& side, const Action& action, const Message& offer) {
  const auto it = std::ranges::find(side.sent, action.own_sequence, &Sent::sequence);
  if (it == side.sent.end()) return;
  const Sent ours = std::move(*it);
  side.sent.erase(it);
  // An offer of nothing, theirs or ours, makes no exchange, which both ends know alike.
  const bool nothing = !ours.payload || !offer.payload;
  Message kept = engine_.stamp(MessageKind::kOffer, side.rank);
  kept.bucket = ours.bucket;
  kept.sequence = ours.sequence;
  kept.codec = ours.codec;
  if (!nothing) kept.payload = ours.payload;
  side.kept.push_back({action.sequence, action.own_sequence, std::move(kept)});
  if (nothing) return close(action.bucket);
  apply_or_owe({action.kind, side.rank, action.bucket, 0, offer, ours});
}

void Pump::settle(Side& side, const Action& action, const Message& reply) {
  const auto it = std::ranges::find(side.sent, action.sequence, &Sent::sequence);
  if (it == side.sent.end()) return;
  const Sent ours = std::move(*it);
  side.sent.erase(it);
  if (reply.status != ReplyStatus::kDelta) return close(action.bucket);
  apply_or_owe({action.kind, side.rank, action.bucket, 0, reply, ours});
}

void Pump::apply_or_owe(Owed&& owed) {
  if (apply(owed)) return;
  ++counters_.put_off;
  // Whoever asks again and again for the same is answered once.
  if (owed.kind == Action::Kind::kServe && std::ranges::any_of(owed_, [&](const Owed& other) {
        return other.kind == owed.kind && other.rank == owed.rank && other.bucket == owed.bucket;
      })) {
    return;
  }
  owed_.push_back(std::move(owed));
}

MixReport Pump::settle_now(const Owed& owed) {
  const Message& reply = owed.message;
  const Sent& ours = owed.ours;
  const bool exact = ours.codec == kExact;
  // What was offered exactly is answered exactly.
  if ((reply.codec == kExact) != exact) return {.why = MixReport::Why::kMalformed};
  MixReport report = mixer_.settle(owed.bucket, coding(side(owed.rank), exact), view(ours.payload),
                                   view(reply.payload), reply.divisor);
  if (ours.norm2 > 0) report.norm2 = ours.norm2;
  return report;
}

MixReport Pump::merge_now(const Owed& owed) {
  const Sent& ours = owed.ours;
  const CodedOffer offered{view(ours.payload), ours.codec == kExact};
  const CodedOffer theirs{view(owed.message.payload), owed.message.codec == kExact};
  MixReport report = mixer_.merge(
      owed.bucket, coding(side(owed.rank), offered.exact && theirs.exact), offered, theirs);
  if (ours.norm2 > 0) report.norm2 = ours.norm2;
  return report;
}

/// False where another process holds the bucket; then it is to be tried again.
bool Pump::apply(const Owed& owed) {
  const Message& message = owed.message;
  if (owed.kind == Action::Kind::kServe) return serve(side(owed.rank), owed);
  const bool settle = owed.kind == Action::Kind::kSettle;
  const bool merge = owed.kind == Action::Kind::kMerge;
  MixReport report;
  if (settle) {
    report = settle_now(owed);
  } else if (merge) {
    report = merge_now(owed);
  } else if (owed.kind == Action::Kind::kDiscard) {
    report = mixer_.discard(owed.bucket);
  } else if (owed.kind == Action::Kind::kAdopt) {
    report = mixer_.adopt(owed.bucket, view(message.payload));
  } else {
    report = mixer_.absorb(owed.bucket, *pulled_, view(message.payload),
                           weights_.weight(engine_.config().rank, owed.rank));
  }
  if (report.why == MixReport::Why::kHeld) return false;
  if (!report.applied) {
    reject(owed.rank, report,
           settle  ? "reply"
           : merge ? "offer"
                   : "snapshot",
           settle  ? "a delta"
           : merge ? "an offer"
                   : "a snapshot");
  } else if (settle || merge) {
    settlement_.measured(owed.rank, owed.bucket, report.distance2, report.norm2,
                         settle ? message.divisor : 2, telling(message, &owed.ours));
  } else if (owed.kind != Action::Kind::kAbsorb) {
    for (Side& side : sides_) mixer_.adopted(owed.bucket, *side.codec);
  }
  if (settle || merge) close(owed.bucket);
  return true;
}

void Pump::reject(Rank rank, const MixReport& report, const char* cause, const std::string& what) {
  const bool malformed = report.why == MixReport::Why::kMalformed;
  ++(malformed ? counters_.malformed : counters_.non_finite);
  complain(rank, std::string(cause) + (malformed ? " malformed" : ""),
           what + (malformed ? " that is no part of its bucket was refused"
                             : " that is not finite was refused"));
}

void Pump::make_up() {
  std::erase_if(owed_, [this](const Owed& owed) { return apply(owed); });
}

void Pump::close(std::uint32_t bucket) {
  if (!engine_.is_open(bucket)) mixer_.close(bucket);
}

void Pump::resend(Side& side, const Action& action) {
  std::uint64_t next_own = action.own_sequence;
  for (Kept& kept : side.kept) {
    if (kept.sequence <= action.sequence) continue;
    if (kept.own_sequence != 0) {
      if (kept.own_sequence < action.own_sequence) continue;  // they have seen that offer
      kept.own_sequence = kept.message.sequence = next_own++;
    }
    engine_.restamp(kept.message, side.rank);
    ++counters_.resent;
    transmit(side, kept.message);
  }
}

bool Pump::serve(Side& side, const Owed& pull) {
  Message message = engine_.stamp(MessageKind::kSnapshot, side.rank);
  message.bucket = pull.bucket;
  message.round = pull.round;
  const bool joining = message.round == 0;
  const CodedForm form = this->form(message.kind, side, pull.bucket, joining);
  message.codec = form.codec;
  const std::span<std::byte> bytes = give_payload(message, form.bytes);
  const MixReport report =
      joining ? mixer_.copy(pull.bucket, bytes) : mixer_.snapshot(pull.bucket, *pulled_, bytes);
  if (!report.applied && report.why == MixReport::Why::kHeld) return false;
  if (!report.applied) {
    ++counters_.own_non_finite;
    return true;
  }
  transmit(side, message);
  return true;
}

std::vector<Pump::InFlight> Pump::unsettled_at(Rank neighbour) const {
  std::vector<InFlight> result;
  const auto it = std::ranges::find(sides_, neighbour, &Side::rank);
  for (const Kept& kept : it->kept) {
    const Message& m = kept.message;
    if (!m.payload) continue;
    result.push_back({neighbour, kept.sequence, m.bucket, m.codec, m.divisor,
                      kept.own_sequence != 0, m.payload});
  }
  return result;
}

Pump::Open Pump::open_offer(Rank neighbour, std::uint64_t sequence) const {
  const auto side = std::ranges::find(sides_, neighbour, &Side::rank);
  const auto it = std::ranges::find(side->sent, sequence, &Sent::sequence);
  return it == side->sent.end() ? Open{} : Open{it->codec, it->payload};
}

}  // namespace stencil
