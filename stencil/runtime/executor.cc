#include "stencil/runtime/executor.h"

#include <algorithm>
#include <utility>

namespace stencil {
Executor::Executor(Engine& engine, Edges& edges, Mixer& mixer, Carried& carried,
                   PayloadForms& forms, Outbox& outbox, Settlement& settlement,
                   Complaints& complaints, PumpCounters& counters)
    : engine_(engine),
      edges_(edges),
      mixer_(mixer),
      carried_(carried),
      forms_(forms),
      outbox_(outbox),
      settlement_(settlement),
      complaints_(complaints),
      counters_(counters) {}

void Executor::run(Actions& actions) {
  engine_.take_closed(closed_);
  for (const std::uint32_t bucket : closed_) close_request(bucket);
  closed_.clear();
  engine_.take_lost(lost_);
  for (const Rank rank : lost_) {
    const auto edge = edges_.find(rank);
    if (edge == edges_.end()) continue;
    edge->second.link.backlog.clear();
    edge->second.memory.token.clear();
  }
  lost_.clear();
  for (Action& action : actions) std::visit(*this, action);
  actions.clear();
}

bool Executor::finishing() const {
  return engine_.state() == WorkerState::kSettling || engine_.state() == WorkerState::kSettled;
}

/// Whether `theirs` (an answer to `ours`, where that is not null) tells how far apart the two
/// models are. While training it always does, roughly; where it shows a part of the bucket, as a
/// lower bound. After training it does only where neither end has a step to come, and for whole
/// buckets.
bool Executor::telling(const Message& theirs, const OpenOffer* ours) const {
  if (!finishing()) return true;
  const WorkerState state = theirs.header.state;
  const bool they_finish = state == WorkerState::kSettling || state == WorkerState::kSettled;
  const Offer* const offer = theirs.as<Offer>();
  const CodecNumber codec = offer != nullptr ? offer->codec : theirs.as<Reply>()->codec;
  return they_finish && codec == kExact && (ours == nullptr || ours->finishing);
}

void Executor::measured(Rank neighbour, std::uint32_t bucket, const MixReport& report, int divisor,
                        bool telling) {
  settlement_.measured(edges_.at(neighbour), bucket, report.distance2, report.norm2, divisor,
                       telling);
}

void Executor::close_request(std::uint32_t bucket) {
  if (!engine_.is_open(bucket)) mixer_.close_request(bucket);
}

void Executor::reject(Rank from, const MixReport& report, const char* cause, const char* what) {
  const bool malformed = report.why == MixReport::Why::kMalformed;
  ++(malformed ? counters_.malformed : counters_.non_finite);
  complaints_.about(from, std::string(cause) + (malformed ? " malformed" : ""),
                    std::string(what) + (malformed ? " that does not fit its bucket was refused"
                                                   : " that is not finite was refused"));
}

void Executor::note_refused(Rank from, const MixReport& report) {
  if (report.refused == 0) return;
  counters_.claims_refused += report.refused;
  complaints_.about(from, "claims",
                    "its telemetry would bring a mean beyond what this run can have made: that "
                    "is not taken");
}

void Executor::operator()(action::Send& send) {
  if (send.message.header.number == 0) engine_.stamp(send.message.header, send.to);
  outbox_.send(edges_.at(send.to), send.message);
}

void Executor::operator()(action::Refused& refused) {
  complaints_.about(refused.by, "refused", refused.text);
  refusals_.try_emplace(refused.by,
                        "neighbour " + std::to_string(refused.by) + ": " + refused.text);
}

std::string Executor::refused() const {
  for (const auto& [by, why] : refusals_) {
    const auto edge = edges_.find(by);
    if (edge != edges_.end() && !edge->second.neighbour.up()) return why;
  }
  return {};
}

void Executor::operator()(action::Warn& warning) {
  complaints_.about(warning.about, warning.cause, warning.text);
}

void Executor::operator()(action::HashStart& start) {
  if (start.piece == 0) start_.reset();
  const std::span<const std::byte> piece = view(start.payload);
  if (chunk(start.piece)) {
    start_.add_carried(piece);
  } else {
    start_.add_values(piece);
  }
  if (!start.last) return;
  Actions then;  // they may make offers, which fill following_
  engine_.on_start_hashed(start.from, start_.value(), then);
  run(then);
}

void Executor::operator()(action::MakeOffer& offer) {
  const Edge& to = edges_.at(offer.to);
  const bool exact = finishing();
  const CodedForm form = forms_.offer(*to.codec, offer.bucket, exact);
  MadeOffer made{.codec = form.codec, .finishing = exact};
  // Without room for an own payload it is as where another process holds the bucket.
  const auto bytes = forms_.give(made.payload, form.bytes);
  const MixReport report =
      bytes ? mixer_.offer(offer.bucket, forms_.coding(to, form.codec == kExact), *bytes)
            : MixReport::locked();
  if (!report.applied) {
    // Another process holds the bucket, there is no memory for it, or our own model is not finite,
    // which the training thread will notice at its boundary. Sequence numbers must not have a gap
    // and cannot wait, so this is an offer without values.
    ++(report.why == MixReport::Why::kNotFinite ? counters_.own_non_finite : counters_.put_off);
    made.payload = Payload();
  }
  made.norm2 = report.norm2;
  engine_.on_offer_made(offer.to, offer.sequence, made, following_);
  run(following_);
}

void Executor::operator()(action::Answer& answer) {
  const Edge& to = edges_.at(answer.to);
  const Offer& offer = *answer.message.as<Offer>();
  Reply reply{.sequence = offer.sequence, .bucket = offer.bucket, .status = answer.status};
  if (answer.divisor > 0) {
    const bool exact = offer.codec == kExact;
    const CodedForm form = forms_.reply(*to.codec, offer.bucket, exact);
    const auto bytes = offer.payload ? forms_.give(reply.payload, form.bytes) : std::nullopt;
    const MixReport report =
        bytes ? mixer_.answer(offer.bucket, forms_.coding(to, exact), view(offer.payload),
                              answer.divisor, *bytes, to.neighbour.unlike)
              : MixReport::locked();
    if (report.applied) {
      reply.divisor = answer.divisor;
      reply.codec = form.codec;
      note_refused(answer.to, report);
      measured(answer.to, offer.bucket, report, answer.divisor, telling(answer.message, nullptr));
    } else {
      const bool later =
          report.why == MixReport::Why::kLocked || report.why == MixReport::Why::kBusy;
      reply.status = later ? ReplyStatus::kBusy : ReplyStatus::kRejected;
      reply.payload = Payload();
      if (!later) reject(answer.to, report, "offer", "an offer");
    }
  }
  engine_.on_answered(answer.to, reply, following_);
  run(following_);
}

template <typename Applied>
void Executor::apply_or_owe(Applied& owed) {
  if (apply(owed)) return;
  ++counters_.put_off;
  owed_.emplace_back(std::move(owed));
}

void Executor::operator()(action::Serve& serve) {
  if (apply(serve)) return;
  ++counters_.put_off;
  // A neighbour that asks for the same bucket repeatedly is answered once.
  const bool asked = std::ranges::any_of(owed_, [&](const Owed& other) {
    const auto* pull = std::get_if<action::Serve>(&other);
    return pull != nullptr && pull->to == serve.to && pull->bucket == serve.bucket;
  });
  if (!asked) owed_.emplace_back(serve);
}

void Executor::make_up() {
  std::erase_if(owed_, [this](const Owed& owed) {
    return std::visit([this](const auto& what) { return apply(what); }, owed);
  });
}

std::size_t Executor::held() const {
  std::size_t bytes = 0;
  for (const Owed& owed : owed_) {
    bytes += std::visit(
        [](const auto& what) -> std::size_t {
          if constexpr (requires { what.message; }) return view(payload_of(what.message)).size();
          if constexpr (requires { what.snapshot; }) return view(what.snapshot.payload).size();
          return 0;
        },
        owed);
  }
  return bytes;
}

void Executor::forget(Rank neighbour) {
  std::erase_if(owed_, [&](const Owed& owed) {
    return std::visit(
        [&](const auto& what) {
          if constexpr (requires { what.with; }) return what.with == neighbour;
          if constexpr (requires { what.to; }) return what.to == neighbour;
          if constexpr (requires { what.from; }) return what.from == neighbour;
          return false;
        },
        owed);
  });
}

bool Executor::apply(const action::Complete& complete) {
  const Edge& with = edges_.at(complete.with);
  const OpenOffer& ours = complete.ours;
  const Reply& reply = *complete.message.as<Reply>();
  const bool exact = ours.codec == kExact;
  MixReport report{.why = MixReport::Why::kMalformed};
  // An exact offer gets an exact answer.
  if ((reply.codec == kExact) == exact) {
    report = mixer_.complete(ours.bucket, forms_.coding(with, exact), view(ours.payload),
                             view(reply.payload), reply.divisor, with.neighbour.unlike);
  }
  if (report.why == MixReport::Why::kLocked) return false;
  if (report.applied) {
    if (ours.norm2 > 0) report.norm2 = ours.norm2;
    note_refused(with.rank(), report);
    measured(with.rank(), ours.bucket, report, reply.divisor, telling(complete.message, &ours));
  } else {
    reject(with.rank(), report, "reply", "a delta");
  }
  close_request(ours.bucket);
  return true;
}

bool Executor::apply(const action::Merge& merge) {
  const Edge& with = edges_.at(merge.with);
  const OpenOffer& ours = merge.ours;
  const Offer& theirs = *merge.message.as<Offer>();
  const CodedOffer a{view(ours.payload), ours.codec == kExact};
  const CodedOffer b{view(theirs.payload), theirs.codec == kExact};
  MixReport report = mixer_.merge(ours.bucket, forms_.coding(with, a.exact && b.exact), a, b,
                                  with.neighbour.unlike);
  if (report.why == MixReport::Why::kLocked) return false;
  if (report.applied) {
    if (ours.norm2 > 0) report.norm2 = ours.norm2;
    note_refused(with.rank(), report);
    measured(with.rank(), ours.bucket, report, 2, telling(merge.message, &ours));
  } else {
    reject(with.rank(), report, "offer", "an offer");
  }
  close_request(ours.bucket);
  return true;
}

std::optional<std::uint32_t> Executor::chunk(std::uint32_t bucket) const {
  if (bucket < mixer_.bucket_count()) return std::nullopt;
  return bucket - mixer_.bucket_count();
}

bool Executor::apply(const action::Serve& serve) {
  const bool joining = serve.round == 0;
  const CodedForm form = forms_.snapshot(serve.bucket, joining);
  Message message = engine_.message(
      serve.to, Snapshot{.bucket = serve.bucket, .round = serve.round, .codec = form.codec});
  const auto bytes = forms_.give(std::get<Snapshot>(message.body).payload, form.bytes);
  if (!bytes) {
    ++counters_.frames_dropped;  // it is asked for again
    return true;
  }
  if (const auto carried = chunk(serve.bucket)) {
    carried_.copy(*carried, *bytes);
    outbox_.send(edges_.at(serve.to), message);
    return true;
  }
  const MixReport report = joining ? mixer_.copy(serve.bucket, *bytes)
                                   : mixer_.snapshot(serve.bucket, forms_.pulled(), *bytes);
  if (report.applied) {
    outbox_.send(edges_.at(serve.to), message);
    return true;
  }
  if (report.why == MixReport::Why::kLocked) return false;
  ++counters_.own_non_finite;
  return true;
}

bool Executor::apply(const action::Adopt& adopt) {
  const Snapshot& snapshot = adopt.snapshot;
  const std::span<const std::byte> values = view(snapshot.payload);
  if (const auto carried = chunk(snapshot.bucket)) {
    if (snapshot.payload) carried_.take(*carried, values);
    if (!snapshot.payload) carried_.discard(*carried);
    return true;
  }
  const MixReport report = adopt.initial      ? mixer_.begin_with(snapshot.bucket, values)
                           : snapshot.payload ? mixer_.adopt(snapshot.bucket, values)
                                              : mixer_.discard(snapshot.bucket);
  if (report.why == MixReport::Why::kLocked) return false;
  if (!report.applied) {
    reject(adopt.from, report, "snapshot", "a snapshot");
    return true;
  }
  note_refused(adopt.from, report);
  for (const auto& [rank, edge] : edges_) {
    mixer_.adopted(snapshot.bucket, *edge.codec);
  }
  return true;
}

bool Executor::apply(const action::Absorb& absorb) {
  const Snapshot& snapshot = absorb.snapshot;
  const MixReport report = mixer_.absorb(snapshot.bucket, forms_.pulled(), view(snapshot.payload),
                                         edges_.at(absorb.from).neighbour.weight);
  if (report.why == MixReport::Why::kLocked) return false;
  if (!report.applied) reject(absorb.from, report, "snapshot", "a snapshot");
  note_refused(absorb.from, report);
  return true;
}

}  // namespace stencil
