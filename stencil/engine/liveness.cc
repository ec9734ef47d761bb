#include "stencil/engine/liveness.h"

#include <algorithm>

namespace stencil {
namespace {

/// Whether a worker in `state` has made its last step.
bool through(WorkerState state) {
  return state == WorkerState::kSettling || state == WorkerState::kSettled ||
         state == WorkerState::kFrozen;
}

}  // namespace

void Liveness::heard(TimePoint now, Neighbour& neighbour, const MessageHeader& header) {
  neighbour.times.heard = now;
  Report& report = neighbour.report;
  if (header.number >= report.number) {
    // Joining is over: it has copied a model, or goes on with its own.
    const bool was_joining = report.number != 0 && report.state == WorkerState::kJoining;
    if (was_joining && header.state != WorkerState::kJoining) neighbour.life.behind = false;
    if (through(header.state)) neighbour.life.behind = false;  // it takes no model over any more
    report.number = header.number;
    report.state = header.state;
    report.steps.note(now, header.step);
    report.settled_hops = header.settled_hops;
  }
  if (neighbour.state == LinkState::kSuspect) {
    neighbour.state = LinkState::kUp;
    neighbour.pace.swept_step = std::max(neighbour.pace.swept_step, self_.step());
    ++self_.counters.returned;
  }
  neighbour.pace.note(neighbour.in_pace(), self_.step(), report.steps.count,
                      self_.config.mode.bound);
}

void Liveness::suspect(Neighbour& neighbour) {
  neighbour.state = LinkState::kSuspect;
  ++self_.counters.suspected;
}

void Liveness::on_link_down(Neighbour& neighbour) {
  neighbour.has_link = false;
  neighbour.life.acknowledged = false;
  if (neighbour.state == LinkState::kUp) suspect(neighbour);
  exchange_.park(neighbour);
}

void Liveness::tick(TimePoint now, Neighbour& neighbour, Actions& out) {
  const EngineConfig& config = self_.config;
  const EdgeTimes& times = neighbour.times;
  if (neighbour.state == LinkState::kLeft) return;
  if (neighbour.life.ever_heard && neighbour.state == LinkState::kUp &&
      now >= suspect_at(neighbour)) {
    suspect(neighbour);
    neighbour.pace.limits = false;
    exchange_.park(neighbour);
  }
  if (neighbour.state == LinkState::kSuspect && now >= gone_at(neighbour)) {
    neighbour.state = LinkState::kGone;
    ++self_.counters.gone;
    handshake_.give_up(neighbour);
  }
  if (!neighbour.has_link) return;
  if (!neighbour.life.acknowledged) return handshake_.repeat(now, neighbour, out);
  if (awaits_reply(neighbour) && now >= reply_due(neighbour)) {
    // All that is open is asked for anew, and given longer: where the neighbour may send only
    // little in a second, the reply was late, and would be again.
    neighbour.round_trip = std::max(neighbour.round_trip, now - neighbour.book.open.front().since);
    for (OpenOffer& offer : neighbour.book.open) offer.since = now;
    return handshake_.synchronise(now, neighbour, out);
  }
  if (now - times.sent >= config.heartbeat_every) self_.heartbeat(now, neighbour, out);
}

/// What holds up replies may hold up heartbeats: a link of seconds is not quiet when a quick one
/// is. A trip that was long because the neighbour stood still counts little soon: the mean decays.
TimePoint Liveness::suspect_at(const Neighbour& neighbour) const {
  return neighbour.times.heard + self_.config.suspect_after + trip(neighbour);
}

Duration Liveness::trip(const Neighbour& neighbour) const {
  return std::min(neighbour.round_trip, self_.config.gone_after);
}

TimePoint Liveness::gone_at(const Neighbour& neighbour) const {
  return std::max(neighbour.times.heard + self_.config.gone_after, suspect_at(neighbour));
}

/// When a reply of theirs is taken for lost. Over a thin link what was asked for may come late,
/// behind much else that was; asking again would send all of it once more. So while anything comes
/// it is waited for, though not for ever.
TimePoint Liveness::reply_due(const Neighbour& neighbour) const {
  constexpr int kForEver = 30;
  const Duration deadline = self_.config.reply_deadline + trip(neighbour);
  const TimePoint asked = neighbour.book.open.front().since;
  return std::min(std::max(asked, neighbour.times.moved) + deadline, asked + kForEver * deadline);
}

TimePoint Liveness::next(const Neighbour& neighbour) const {
  const EngineConfig& config = self_.config;
  const EdgeTimes& times = neighbour.times;
  TimePoint next = kNever;
  if (neighbour.state == LinkState::kLeft) return next;
  if (neighbour.state == LinkState::kUp) next = suspect_at(neighbour);
  if (neighbour.state == LinkState::kSuspect) next = gone_at(neighbour);
  if (!neighbour.has_link) return next;
  if (!neighbour.life.acknowledged) return std::min(next, handshake_.repeat_at(neighbour));
  next = std::min(next, times.sent + config.heartbeat_every);
  if (awaits_reply(neighbour)) next = std::min(next, reply_due(neighbour));
  return next;
}

}  // namespace stencil
