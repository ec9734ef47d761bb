#include "stencil/engine/sweeps.h"

#include <algorithm>

namespace stencil {

SweepBook::SweepBook(std::uint32_t buckets, std::uint32_t per_mille)
    : buckets_(buckets), per_mille_(per_mille) {}

void SweepBook::earn() {
  // What is left of a sweep is kept, or fractions would be lost step by step.
  credit_ = std::min(credit_ + per_mille_, per_mille_ + 999);
  ++earned_;
}

Sweep& SweepBook::begin(Rank rank, bool in_turn) {
  Sweep sweep;
  if (!spare_.empty()) {
    sweep = std::move(spare_.back());
    spare_.pop_back();
  }
  sweep.rank = rank;
  sweep.step = earned_;
  sweep.in_turn = in_turn;
  sweep.begun = false;
  sweep.pending.assign(buckets_, true);
  sweep.unasked = buckets_;
  sweep.unsettled = 0;
  sweep.cursor = sweep.held = sweep.pauses = 0;
  sweep.resume = {};
  active_.push_back(std::move(sweep));
  return active_.back();
}

Sweep* SweepBook::find(Rank rank) {
  const auto it = std::ranges::find(active_, rank, &Sweep::rank);
  return it == active_.end() ? nullptr : &*it;
}

bool SweepBook::is_first(const Sweep& sweep) const {
  return &*std::ranges::find(active_, sweep.rank, &Sweep::rank) == &sweep;
}

Sweep* SweepBook::find_turn(Rank rank, std::uint32_t bucket) {
  const auto it = std::ranges::find_if(active_, [&](const Sweep& sweep) {
    return sweep.in_turn && sweep.rank == rank && sweep.pending[bucket];
  });
  return it == active_.end() ? nullptr : &*it;
}

bool SweepBook::blocked(const Sweep& sweep, std::uint32_t bucket) const {
  for (const Sweep& earlier : active_) {
    if (&earlier == &sweep) return false;
    if (earlier.in_turn && earlier.step == sweep.step && earlier.pending[bucket]) return true;
  }
  return false;
}

std::uint64_t SweepBook::left() const {
  std::uint64_t left = 0;
  for (const Sweep& sweep : active_) left += sweep.unasked + sweep.unsettled;
  return left;
}

void SweepBook::take(Sweep& sweep, std::uint32_t bucket) {
  sweep.pending[bucket] = false;
  --sweep.unasked;
  ++sweep.unsettled;
}

void SweepBook::end(const Sweep& sweep) {
  const auto it = active_.begin() + (&sweep - active_.data());
  spare_.push_back(std::move(*it));
  active_.erase(it);
}

void SweepBook::end_all(Rank rank) {
  while (const Sweep* sweep = find(rank)) end(*sweep);
}

}  // namespace stencil
