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

void SweepBook::begin(Rank rank, bool spend_credit) {
  if (spend_credit) credit_ -= 1000;
  Sweep sweep;
  if (!spare_.empty()) {
    sweep = std::move(spare_.back());
    spare_.pop_back();
  }
  sweep.rank = rank;
  sweep.step = earned_;
  sweep.pending.assign(buckets_, true);
  sweep.unasked = buckets_;
  sweep.unsettled = 0;
  sweep.cursor = sweep.held = sweep.pauses = 0;
  sweep.resume = {};
  active_.push_back(std::move(sweep));
}

Sweep* SweepBook::find(Rank rank) {
  const auto it = std::ranges::find(active_, rank, &Sweep::rank);
  return it == active_.end() ? nullptr : &*it;
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

void SweepBook::end(Rank rank) {
  const auto it = std::ranges::find(active_, rank, &Sweep::rank);
  if (it == active_.end()) return;
  spare_.push_back(std::move(*it));
  active_.erase(it);
}

}  // namespace stencil
