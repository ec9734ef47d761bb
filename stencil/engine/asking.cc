#include "stencil/engine/asking.h"

#include <algorithm>

namespace stencil {
namespace {

constexpr Duration kSettlingPause = std::chrono::milliseconds(100);

}  // namespace

Asking::Asking(Self& self, SweepBook& sweeps, TurnKeeper& turns, OfferExchange& exchange,
               SharedExchange& sharing, const Bound& bound)
    : self_(self),
      sweeps_(sweeps),
      turns_(turns),
      exchange_(exchange),
      sharing_(sharing),
      bound_(bound),
      random_(Random::derive(self.config.seed, 0x656e67ULL + self.config.rank)) {}

/// Whether to leave a neighbour alone for a while. A neighbour that still trains moves with each of
/// its steps, so a settling worker gains nothing by asking it without pause.
bool Asking::resting(TimePoint now, const Neighbour& neighbour) const {
  return self_.state == WorkerState::kSettling &&
         neighbour.report.state == WorkerState::kTraining &&
         now - neighbour.times.swept < kSettlingPause;
}

bool Asking::may_ask(TimePoint now, const Neighbour& neighbour) {
  return neighbour.askable() && neighbour.book.open.empty() && sweeps_.find(neighbour) == nullptr &&
         !resting(now, neighbour);
}

/// One of the two asked longest ago, at random: always taking the first could make workers ask in
/// lock step. An overdue neighbour comes first.
Neighbour* Asking::choose(TimePoint now) {
  Neighbour* oldest = nullptr;
  Neighbour* second = nullptr;
  for (Neighbour& neighbour : self_.neighbours) {
    if (!may_ask(now, neighbour)) continue;
    if (bound_.overdue(neighbour)) return &neighbour;
    if (oldest == nullptr || neighbour.ask_order < oldest->ask_order) {
      second = oldest;
      oldest = &neighbour;
    } else if (second == nullptr || neighbour.ask_order < second->ask_order) {
      second = &neighbour;
    }
  }
  if (second == nullptr) return oldest;
  return random_.below(2) == 0 ? oldest : second;
}

void Asking::issue(TimePoint now, Actions& out) {
  rest_until_ = kNever;
  if (self_.in_lock_step()) return;
  if (self_.training()) turns_.plan();
  exchange_.take_held(now, out);
  turns_.open_sweeps();
  sharing_.claim(now);
  if (self_.state == WorkerState::kJoining || self_.state == WorkerState::kFrozen) return;
  const auto& active = sweeps_.active();
  for (std::size_t i = 0; i < active.size(); ++i) {
    if (turns_.may_offer(active[i])) exchange_.issue(now, sweeps_.active()[i], out);
  }
  for (const Neighbour& neighbour : self_.neighbours) {
    if (!resting(now, neighbour)) continue;
    rest_until_ = std::min(rest_until_, neighbour.times.swept + kSettlingPause);
  }
  const auto starved = [&] {
    return std::any_of(self_.neighbours.begin(), self_.neighbours.end(),
                       [&](const Neighbour& neighbour) {
                         return bound_.overdue(neighbour) && may_ask(now, neighbour);
                       });
  };
  while (exchange_.has_room() && (self_.state == WorkerState::kSettling || starved())) {
    Neighbour* neighbour = choose(now);
    if (neighbour == nullptr) return;
    neighbour->ask_order = turns_.next_ask();
    Sweep& sweep = sweeps_.begin(*neighbour, false);
    sweep.begun = true;
    sharing_.claim(now);
    exchange_.issue(now, sweep, out);
  }
}

}  // namespace stencil
