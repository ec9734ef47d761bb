#include "stencil/engine/turn_keeper.h"

#include <algorithm>

namespace stencil {
namespace {

/// Sweeps planned at a time.
constexpr std::size_t kMostPlanned = 16;
/// Nobody waits for a worker whose steps are longer by more than this share.
constexpr double kUnlike = 0.25;
/// Where nothing of a step is ready yet, offers of it are held for at most this part of its length.
/// Found by simulation: with a twelfth, workers whose steps vary by 0.3 still meet, and links that
/// are busy for half of a step do not fall behind (bench/results/cifar10-research.md).
constexpr int kIdleParts = 12;

}  // namespace

bool TurnKeeper::on_made(std::uint32_t from) {
  if (!making()) {
    earn();
  } else if (from >= made_from_) {
    return false;
  }
  made_from_ = from;
  for (Sweep& sweep : sweeps_.active()) {
    if (sweep.step == sweeps_.earned()) sweep.cursor = from;
  }
  return true;
}

void TurnKeeper::on_boundary(TimePoint now, std::uint64_t step) {
  if (step > self_.step()) {
    paused_ = pause_ != Pause::kNone;
    self_.steps.note(now, step);
  }
  while (sweeps_.earned() < self_.step()) earn();
  if (pause_ != Pause::kGathering) made_from_ = 0;
}

bool TurnKeeper::on_pause(Pause pause) {
  if (pause == pause_) return false;
  pause_ = pause;
  paused_ |= pause != Pause::kNone;
  if (pause != Pause::kGathering) made_from_ = 0;
  return true;
}

/// Where a step has all turns, it begins with the first, so that workers at different steps keep
/// the same order. Otherwise turns continue from step to step.
void TurnKeeper::earn() {
  const std::uint32_t per_mille = self_.config.grid.sweeps_per_mille;
  const std::uint64_t before = sweeps_.earned() * per_mille / 1000;
  sweeps_.earn(per_mille);
  turn_ = per_mille >= 1000 * self_.neighbours.turns() ? 0 : before;
}

void TurnKeeper::plan() {
  const std::size_t turns = self_.neighbours.turns();
  const std::size_t in_a_step = (self_.config.grid.sweeps_per_mille + 999) / 1000;
  const std::size_t most = std::min(std::max(in_a_step, self_.neighbours.size()), kMostPlanned);
  std::size_t passed = 0;
  while (sweeps_.may_begin() && sweeps_.active().size() < most && passed < turns) {
    Neighbour* const partner = self_.neighbours.in_turn((turn_ + passed) % turns);
    const Sweep* before = partner == nullptr ? nullptr : sweeps_.find(*partner);
    const bool goes_on = before != nullptr && before->step < sweeps_.earned();
    if (partner == nullptr ? passed > 0 : !partner->askable() || goes_on) {
      ++passed;
      continue;
    }
    turn_ += passed + 1;
    passed = 0;
    sweeps_.spend();
    if (partner == nullptr) continue;
    partner->ask_order = next_ask();
    sweeps_.begin(*partner, !partner->shared).cursor = made_from_;
  }
}

void TurnKeeper::open_sweeps() {
  const bool may = pause_ != Pause::kGathering || !self_.training();
  for (Sweep& sweep : sweeps_.active()) sweep.begun |= may;
  sweeps_.set_rules(in_turns(), made_from_);
}

bool TurnKeeper::in_turns() const {
  return self_.training() && (pause_ != Pause::kNone || (making() && paused_));
}

bool TurnKeeper::must_hold(TimePoint now, Neighbour& neighbour, const HeldOffer& held) {
  const Offer& offer = held.offer();
  SequenceBook& book = neighbour.book;
  // What crosses ours is mixed with what ours says, however late: the caller is about to make it.
  const OpenOffer* const crossing = book.find_crossing(offer.bucket);
  if (crossing != nullptr && !crossing->made) return true;
  if (!self_.training() || now >= held_until(held) || crossing != nullptr) return false;
  if (book.held.size() >= self_.config.most_held) return false;
  if (pause_ == Pause::kNone) {
    const bool in_step = alike(neighbour.report.steps.every, self_.steps.every, kUnlike);
    if (!paused_ || !in_step) return false;
    if (!is_ahead(offer.bucket)) return offer.ahead;
  }
  const Sweep* sweep = sweeps_.find_turn(neighbour, offer.bucket);
  return sweep != nullptr &&
         (sweeps_.buckets().is_open(offer.bucket) || sweeps_.blocked(*sweep, offer.bucket));
}

TimePoint TurnKeeper::held_until(const HeldOffer& held) const {
  Duration most = self_.config.reply_deadline / 2;
  if (pause_ == Pause::kNone && !making()) most = std::min(most, self_.steps.every / kIdleParts);
  return held.since + most;
}

Sweep* TurnKeeper::strike_exchanged(const Neighbour& neighbour, std::uint32_t bucket) {
  Sweep* sweep = sweeps_.find_turn(neighbour, bucket);
  if (sweep == nullptr) return nullptr;
  // At the boundary all buckets hold the step, including those not asked for until neighbours have
  // arrived.
  if (pause_ == Pause::kNone && bucket < first(*sweep)) return nullptr;
  sweeps_.strike(*sweep, bucket);
  return sweep;
}

}  // namespace stencil
