#include "stencil/engine/offer_exchange.h"

#include <algorithm>
#include <utility>

namespace stencil {
namespace {

/// Even a decline is kept until it is applied, so a neighbour that never applies one needs a limit.
/// No window is as large.
constexpr std::uint64_t kMaxUnreleased = 4096;

}  // namespace

bool OfferExchange::on_offer(TimePoint now, Neighbour& neighbour, const Message& message,
                             Actions& out) {
  const Offer& offer = *message.as<Offer>();
  SequenceBook& book = neighbour.book;
  if (offer.bucket >= self_.config.buckets) {
    ++self_.counters.violations;
    return true;
  }
  const std::uint64_t known = book.answered + book.held.size();
  if (offer.sequence <= known) {
    ++self_.counters.duplicates;
    return true;
  }
  if (offer.sequence != known + 1) {
    ++self_.counters.gaps;
    return false;
  }
  if (book.unreleased() + book.held.size() >= kMaxUnreleased) {
    ++self_.counters.violations;
    return true;
  }
  HeldOffer held{message, now};
  if (!book.held.empty() || turns_.must_hold(now, neighbour, held)) {
    book.held.push_back(std::move(held));
  } else {
    take(now, neighbour, held, out);
  }
  return true;
}

void OfferExchange::take(TimePoint now, Neighbour& neighbour, const HeldOffer& held, Actions& out) {
  const Offer& offer = held.offer();
  if (const OpenOffer* crossing = neighbour.book.find_crossing(offer.bucket)) {
    return cross(now, neighbour, crossing->sequence, held, out);
  }
  // Declines do not count, since they take little memory; if they counted, many offers could keep
  // us busy for ever.
  const bool may_mix = self_.state != WorkerState::kJoining &&
                       self_.state != WorkerState::kFrozen &&
                       mixing() < self_.config.retained_total;
  const std::optional<std::uint8_t> divisor = may_mix ? sweeps_.admit(offer.bucket) : std::nullopt;
  KeptAnswer& kept = neighbour.book.keep(offer.sequence, divisor.has_value());
  ++(divisor ? self_.counters.answers : self_.counters.declined);
  if (const Sweep* sweep =
          divisor == 2 ? turns_.strike_exchanged(neighbour, offer.bucket) : nullptr) {
    kept.struck = true;
    consider_complete(now, *sweep);
  }
  const ReplyStatus why =
      self_.state == WorkerState::kFrozen ? ReplyStatus::kFrozen : ReplyStatus::kBusy;
  out.push_back(action::Answer{neighbour.rank, held.message, divisor.value_or(0),
                               divisor ? ReplyStatus::kDelta : why});
}

void OfferExchange::cross(TimePoint now, Neighbour& neighbour, std::uint64_t own,
                          const HeldOffer& held, Actions& out) {
  ++self_.counters.merges;
  OpenOffer ours = neighbour.book.take_open(own);
  // An offer without values, theirs or ours, makes no exchange, and both ends know it.
  const bool nothing = !ours.payload || !held.offer().payload;
  KeptAnswer& kept = neighbour.book.keep(held.offer().sequence, true);
  // It carries, as an answer would, our state of this moment.
  kept.message = self_.message(&neighbour, Offer{.sequence = ours.sequence,
                                                 .bucket = ours.bucket,
                                                 .codec = ours.codec,
                                                 .payload = nothing ? Payload() : ours.payload});
  complete(now, neighbour, ours);
  if (nothing) {
    closed_.push_back(ours.bucket);
  } else {
    out.push_back(action::Merge{neighbour.rank, std::move(ours), held.message});
  }
}

void OfferExchange::on_reply(TimePoint now, Neighbour& neighbour, const Message& message,
                             Actions& out) {
  const Reply& reply = *message.as<Reply>();
  const OpenOffer* offer = neighbour.book.find_open(reply.sequence);
  if (offer == nullptr) {
    ++self_.counters.duplicates;
    return;
  }
  if (offer->bucket != reply.bucket) {
    ++self_.counters.violations;
    return;
  }
  const Duration trip = now - offer->since;
  Duration& mean = neighbour.round_trip;
  mean += mean.count() == 0 ? trip : (trip - mean) / 8;
  OpenOffer ours = neighbour.book.take_open(reply.sequence);
  complete(now, neighbour, ours);
  if (reply.status == ReplyStatus::kDelta) {
    out.push_back(action::Complete{neighbour.rank, std::move(ours), message});
  } else {
    closed_.push_back(ours.bucket);
  }
}

void OfferExchange::complete(TimePoint now, Neighbour& neighbour, const OpenOffer& offer) {
  if (offer.parked) return;
  sweeps_.close_request(offer.bucket);
  --open_total_;
  Sweep* sweep = sweeps_.find(neighbour);
  if (sweep == nullptr) return;
  --sweep->unanswered;
  consider_complete(now, *sweep);
}

void OfferExchange::consider_complete(TimePoint now, const Sweep& sweep) {
  if (sweep.unasked > 0 || sweep.unanswered > 0) return;
  Neighbour& neighbour = *sweep.neighbour;
  sweeps_.end(sweep);
  ++self_.counters.sweeps;
  ++neighbour.sweeps;
  neighbour.times.swept = now;
  neighbour.pace.swept_step = self_.step();
}

void OfferExchange::on_offer_made(Neighbour& neighbour, std::uint64_t sequence, MadeOffer made,
                                  Actions& out) {
  OpenOffer* const open = neighbour.book.find_open(sequence);
  if (open == nullptr || open->made) return;
  open->made = true;
  open->codec = made.codec;
  open->payload = std::move(made.payload);
  open->finishing = made.finishing;
  open->norm2 = made.norm2;
  out.push_back(action::Send{neighbour.rank,
                             self_.message(&neighbour, Offer{.sequence = sequence,
                                                             .bucket = open->bucket,
                                                             .ahead = turns_.is_ahead(open->bucket),
                                                             .codec = open->codec,
                                                             .payload = open->payload})});
}

void OfferExchange::on_answered(Neighbour& neighbour, Reply reply, Actions& out) {
  KeptAnswer& kept = neighbour.book.answer_to(reply.sequence);
  if (reply.status != ReplyStatus::kDelta) decline(neighbour, kept, reply.bucket);
  kept.message = self_.message(&neighbour, std::move(reply));
  out.push_back(action::Send{neighbour.rank, kept.message});
}

/// An answer that was to mix could not: the bucket may be asked for again.
void OfferExchange::decline(Neighbour& neighbour, KeptAnswer& answer, std::uint32_t bucket) {
  if (!answer.mixes) return;
  neighbour.book.declined(answer);
  --self_.counters.answers;
  ++self_.counters.declined;
  // Where the sweep that the bucket was removed from has ended, the next sweep asks for it.
  Sweep* sweep = answer.struck ? sweeps_.find(neighbour) : nullptr;
  if (sweep != nullptr && !sweep->pending.contains(bucket)) sweeps_.unstrike(*sweep, bucket);
}

void OfferExchange::release(Neighbour& neighbour, std::uint64_t applied) {
  applied = std::min(applied, neighbour.book.answered);
  if (applied > neighbour.book.released) neighbour.book.release(applied);
}

void OfferExchange::free_bucket(const OpenOffer& offer) {
  sweeps_.close_request(offer.bucket);
  --open_total_;
  closed_.push_back(offer.bucket);
}

void OfferExchange::park(Neighbour& neighbour) {
  for (OpenOffer& offer : neighbour.book.open) {
    if (offer.parked) continue;
    offer.parked = true;
    free_bucket(offer);
  }
  sweeps_.end_all(neighbour);
}

void OfferExchange::reset(Neighbour& neighbour) {
  park(neighbour);
  self_.counters.lost_in_flight += neighbour.book.open.size() + neighbour.book.mixing;
  neighbour.book = {};
  lost_.push_back(neighbour.rank);
}

void OfferExchange::withdraw(Neighbour& neighbour, std::uint64_t answered) {
  std::erase_if(neighbour.book.open, [&](const OpenOffer& offer) {
    if (offer.sequence <= answered) return false;
    ++self_.counters.withdrawn;
    if (offer.parked) return true;
    free_bucket(offer);
    if (Sweep* sweep = sweeps_.find(neighbour)) sweeps_.put_back(*sweep, offer.bucket);
    return true;
  });
}

void OfferExchange::take_counters(Neighbour& neighbour, const Hello& hello, Actions& out) {
  SequenceBook& book = neighbour.book;
  withdraw(neighbour, hello.last_answered);
  release(neighbour, hello.last_completed);
  book.next_offer = hello.last_answered + 1;
  resend(neighbour, hello, out);
}

void OfferExchange::resend(Neighbour& neighbour, const Hello& hello, Actions& out) {
  SequenceBook& book = neighbour.book;
  for (KeptAnswer& kept : book.kept) {
    if (kept.sequence <= hello.last_completed) continue;
    if (auto* ours = std::get_if<Offer>(&kept.message.body)) {
      if (ours->sequence <= hello.last_answered) continue;  // they have seen that offer
      ours->sequence = book.next_offer++;
    }
    ++self_.counters.resent;
    // The header is stamped when the message is sent.
    out.push_back(action::Send{neighbour.rank, {.header = {}, .body = kept.message.body}});
  }
}

void OfferExchange::take_held(TimePoint now, Actions& out) {
  for (bool any = true; any;) {
    any = false;
    for (Neighbour& neighbour : self_.neighbours) {
      auto& held = neighbour.book.held;
      while (!held.empty() && !turns_.must_hold(now, neighbour, held.front())) {
        const HeldOffer first = std::move(held.front());
        held.erase(held.begin());
        take(now, neighbour, first, out);
        any = true;
      }
    }
  }
}

/// With shared memory, only the telemetry is exchanged by offers.
std::optional<std::uint32_t> OfferExchange::next_bucket(const Sweep& sweep) {
  const std::uint32_t first = sweep.neighbour->shared ? self_.telemetry() : turns_.first(sweep);
  return sweeps_.next(sweep, first, self_.config.buckets);
}

void OfferExchange::issue(TimePoint now, Sweep& sweep, Actions& out) {
  Neighbour& neighbour = *sweep.neighbour;
  if (!neighbour.askable()) return;
  // Our offer may be crossed; it is then kept like an answer and can no longer be declined.
  if (mixing() >= self_.config.retained_total) return;
  SequenceBook& book = neighbour.book;
  while (book.open.size() < self_.config.window && has_room()) {
    const std::optional<std::uint32_t> bucket = next_bucket(sweep);
    if (!bucket) return;
    const std::uint32_t cursor = sweep.cursor;
    sweeps_.take(sweep, *bucket);
    if (neighbour.shared) sweep.cursor = cursor;  // that of the buckets in shared memory
    sweeps_.open(*bucket);
    ++open_total_;
    ++self_.counters.offers;
    book.open.push_back({.sequence = book.next_offer, .bucket = *bucket, .since = now});
    out.push_back(action::MakeOffer{neighbour.rank, *bucket, book.next_offer++});
    neighbour.times.sent = now;
  }
}

std::size_t OfferExchange::mixing() const {
  std::size_t count = 0;
  for (const Neighbour& neighbour : self_.neighbours) count += neighbour.book.mixing;
  return count;
}

std::size_t OfferExchange::open_offers() const {
  std::size_t count = 0;
  for (const Neighbour& neighbour : self_.neighbours) {
    if (neighbour.living()) count += neighbour.book.open.size();
  }
  return count;
}

std::size_t OfferExchange::awaited_offers() const {
  std::size_t count = 0;
  for (const Neighbour& neighbour : self_.neighbours) {
    if (neighbour.state == LinkState::kUp) count += neighbour.book.open.size();
  }
  return count;
}

bool OfferExchange::replies_applied() const {
  return std::all_of(self_.neighbours.begin(), self_.neighbours.end(),
                     [](const Neighbour& neighbour) {
                       return !neighbour.up() || neighbour.book.unreleased() == 0;
                     });
}

}  // namespace stencil
