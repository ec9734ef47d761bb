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
  return theirs && (offer == nullptr || offer->finishing);
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
    case Action::Kind::kAnswer:
      return answer(side, action, *in_hand);
    case Action::Kind::kDecline:
      return decline(side, action, action.status);
    case Action::Kind::kMerge:
      return merge(side, action, *in_hand);
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
    case Action::Kind::kAdopt:
    case Action::Kind::kAbsorb:
      return apply_or_owe({action.kind, side.rank, action.bucket, 0, *in_hand, {}});
    case Action::Kind::kRefused:
      complain(action.rank, "refused", action.text);
      return refuse("neighbour " + std::to_string(action.rank) + ": " + action.text);
  }
}

std::span<std::byte> Pump::give_payload(Message& message, const Codec& coding) {
  const std::size_t size = mixer_.encoded_size(message.bucket, coding);
  BucketMemory* const memory = payloads_.take();
  message.payload = Payload(memory);
  return memory->use(size, largest_payload_);
}

void Pump::make_offer(Side& side, const Action& action) {
  Message message = engine_.stamp(MessageKind::kOffer, side.rank);
  message.bucket = action.bucket;
  message.sequence = action.sequence;
  const Codec& coding = finishing() ? codecs_.exact() : codecs_.values();
  message.codec = coding.kind();
  const std::span<std::byte> bytes = give_payload(message, coding);
  const MixReport report = mixer_.offer(action.bucket, coding, bytes);
  if (!report.applied && report.why == MixReport::Why::kHeld) {
    // The sequence must not have a hole, and cannot wait: an offer of nothing.
    ++counters_.put_off;
    message.payload = Payload();
    side.sent.push_back({action.sequence, action.bucket, &coding, message.payload, finishing()});
    return transmit(side, message);
  }
  if (!report.applied) {
    // Our own model is broken; the training thread will find out at its boundary. Until then the
    // sequence must not have a hole: offer nothing, and let the edge be synchronised anew.
    ++counters_.own_non_finite;
    return;
  }
  side.sent.push_back({action.sequence, action.bucket, &coding, message.payload, finishing()});
  transmit(side, message);
}

void Pump::answer(Side& side, const Action& action, const Message& offer) {
  Message reply = engine_.stamp(MessageKind::kReply, side.rank);
  reply.bucket = action.bucket;
  reply.sequence = action.sequence;
  reply.divisor = action.divisor;
  if (!offer.payload) return decline(side, action, ReplyStatus::kBusy);
  const Codec& theirs = reader(offer);
  const Codec& coding = &theirs == &codecs_.exact() ? codecs_.exact() : codecs_.differences();
  reply.codec = coding.kind();
  const std::span<std::byte> bytes = give_payload(reply, coding);
  const MixReport report =
      mixer_.answer(action.bucket, theirs, view(offer.payload), action.divisor, coding, bytes);
  if (!report.applied && report.why != MixReport::Why::kNotFinite) {
    return decline(side, action, ReplyStatus::kBusy);
  }
  if (!report.applied) {
    ++counters_.non_finite;
    complain(side.rank, "offer", "an offer that is not finite was refused");
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
  kept.codec = ours.codec->kind();
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

/// False where another process holds the bucket; then it is to be tried again.
bool Pump::apply(const Owed& owed) {
  const Message& message = owed.message;
  if (owed.kind == Action::Kind::kServe) return serve(side(owed.rank), owed);
  const bool settle = owed.kind == Action::Kind::kSettle;
  const bool merge = owed.kind == Action::Kind::kMerge;
  const Codec& coding = reader(message);
  const auto payload = view(message.payload);
  MixReport report;
  if (settle) {
    report = mixer_.settle(owed.bucket, coding, payload, message.divisor);
  } else if (merge) {
    report = mixer_.merge(owed.bucket, *owed.ours.codec, view(owed.ours.payload), coding, payload);
  } else if (owed.kind == Action::Kind::kAdopt) {
    report = mixer_.adopt(owed.bucket, coding, payload);
  } else {
    report = mixer_.absorb(owed.bucket, coding, payload,
                           weights_.weight(engine_.config().rank, owed.rank));
  }
  if (!report.applied && report.why == MixReport::Why::kHeld) return false;
  if (!report.applied) {
    ++counters_.non_finite;
    complain(owed.rank,
             settle  ? "reply"
             : merge ? "offer"
                     : "snapshot",
             settle  ? "a delta that is not finite was refused"
             : merge ? "an offer that is not finite was refused"
                     : "a snapshot holds a NaN or an infinity");
  } else if (settle || merge) {
    settlement_.measured(owed.rank, owed.bucket, report.distance2, report.norm2,
                         settle ? message.divisor : 2, telling(message, &owed.ours));
  }
  if (settle || merge) close(owed.bucket);
  return true;
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
    const Message standing = engine_.stamp(kept.message.kind, side.rank);
    kept.message.sender_epoch = standing.sender_epoch;
    kept.message.receiver_epoch = standing.receiver_epoch;
    kept.message.settled = standing.settled;
    kept.message.state = standing.state;
    kept.message.step = standing.step;
    ++counters_.resent;
    transmit(side, kept.message);
  }
}

bool Pump::serve(Side& side, const Owed& pull) {
  Message message = engine_.stamp(MessageKind::kSnapshot, side.rank);
  message.bucket = pull.bucket;
  message.round = pull.round;
  const bool joining = message.round == 0;
  const Codec& coding = joining ? codecs_.exact() : codecs_.values();
  message.codec = coding.kind();
  const std::span<std::byte> bytes = give_payload(message, coding);
  const MixReport report = joining ? mixer_.offer(pull.bucket, coding, bytes)
                                   : mixer_.snapshot(pull.bucket, coding, bytes);
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
  return it == side->sent.end() ? Open{} : Open{it->codec->kind(), it->payload};
}

}  // namespace stencil
