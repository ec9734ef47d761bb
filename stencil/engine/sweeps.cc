#include "stencil/engine/sweeps.h"

#include <algorithm>

namespace stencil {

using Word = BucketSet::Word;

SweepBook::SweepBook(std::uint32_t buckets, std::uint64_t& looked)
    : count_(buckets), looked_(looked), buckets_(buckets) {}

void SweepBook::earn(std::uint32_t per_mille) {
  // The fraction of a sweep that is left is kept, or it would be lost at each step.
  credit_ = std::min(credit_ + per_mille, per_mille + 999);
  ++earned_;
  stale_ = true;  // sweeps of the newest step become those of an earlier one
}

Sweep& SweepBook::begin(Neighbour& neighbour, bool in_turn) {
  if (spare_.empty()) spare_.push_back({.pending = BucketSet(count_), .ready = BucketSet(count_)});
  Sweep sweep = std::move(spare_.back());
  spare_.pop_back();
  sweep.neighbour = &neighbour;
  sweep.step = earned_;
  sweep.in_turn = in_turn;
  sweep.begun = sweep.claims = false;
  sweep.pending.fill(count_);
  sweep.unasked = count_;
  sweep.unanswered = 0;
  sweep.cursor = sweep.locked = sweep.pauses = 0;
  sweep.resume = {};
  active_.push_back(std::move(sweep));
  stale_ = true;
  return active_.back();
}

Sweep* SweepBook::find(const Neighbour& neighbour) {
  const auto it = std::ranges::find(active_, &neighbour, &Sweep::neighbour);
  return it == active_.end() ? nullptr : &*it;
}

bool SweepBook::is_first(const Sweep& sweep) const {
  return &*std::ranges::find(active_, sweep.neighbour, &Sweep::neighbour) == &sweep;
}

Sweep* SweepBook::find_turn(const Neighbour& neighbour, std::uint32_t bucket) {
  const auto it = std::ranges::find_if(active_, [&](const Sweep& sweep) {
    return sweep.in_turn && sweep.neighbour == &neighbour && sweep.pending.contains(bucket);
  });
  return it == active_.end() ? nullptr : &*it;
}

bool SweepBook::blocked(const Sweep& sweep, std::uint32_t bucket) const {
  for (const Sweep& earlier : active_) {
    if (&earlier == &sweep) return false;
    if (earlier.in_turn && earlier.step == sweep.step && earlier.pending.contains(bucket)) {
      return true;
    }
  }
  return false;
}

std::uint64_t SweepBook::left() const {
  std::uint64_t left = 0;
  for (const Sweep& sweep : active_) left += sweep.unasked + sweep.unanswered;
  return left;
}

void SweepBook::left(BucketSet& buckets) const {
  for (std::size_t i = 0; i < buckets.words(); ++i) {
    Word word = buckets_.all_open().word(i);
    for (const Sweep& sweep : active_) word |= sweep.pending.word(i);
    buckets.set_word(i, word);
  }
  buckets.rebuild();
}

void SweepBook::end(const Sweep& sweep) {
  const auto it = active_.begin() + (&sweep - active_.data());
  spare_.push_back(std::move(*it));
  active_.erase(it);
  stale_ = true;
}

void SweepBook::end_all(const Neighbour& neighbour) {
  while (const Sweep* sweep = find(neighbour)) end(*sweep);
}

void SweepBook::open(std::uint32_t bucket) {
  buckets_.open(bucket);
  refresh(bucket);
}

void SweepBook::close_request(std::uint32_t bucket) {
  buckets_.close(bucket);
  refresh(bucket);
}

void SweepBook::set_rules(bool in_turns, std::uint32_t made_from) {
  stale_ |= in_turns != in_turns_;
  stale_ |= made_from != made_from_ && std::ranges::any_of(active_, &Sweep::claims);
  in_turns_ = in_turns;
  made_from_ = made_from;
}

void SweepBook::set_claim(Sweep& sweep, bool claims) {
  stale_ |= claims != sweep.claims;
  sweep.claims = claims;
}

std::optional<std::uint32_t> SweepBook::next(const Sweep& sweep, std::uint32_t first,
                                             std::uint32_t end) {
  if (sweep.unasked == 0) return std::nullopt;
  refresh_all();
  const std::uint32_t from = std::max(sweep.cursor < end ? sweep.cursor : 0, first);
  auto bucket = sweep.ready.next(from, looked_);
  if (bucket && *bucket < end) return bucket;
  bucket = sweep.ready.next(first, looked_);
  return bucket && *bucket < from ? bucket : std::nullopt;
}

bool SweepBook::is_sound() const {
  return buckets_.is_of(count_) && std::ranges::all_of(active_, [this](const Sweep& sweep) {
           return sweep.pending.is_like(buckets_.all_open()) &&
                  sweep.ready.is_like(buckets_.all_open());
         });
}

void SweepBook::take(Sweep& sweep, std::uint32_t bucket) {
  sweep.cursor = bucket + 1;
  --sweep.unasked;
  ++sweep.unanswered;
  set_pending(sweep, bucket, false);
}

void SweepBook::put_back(Sweep& sweep, std::uint32_t bucket) {
  ++sweep.unasked;
  --sweep.unanswered;
  set_pending(sweep, bucket, true);
}

void SweepBook::strike(Sweep& sweep, std::uint32_t bucket) {
  --sweep.unasked;
  set_pending(sweep, bucket, false);
}

void SweepBook::unstrike(Sweep& sweep, std::uint32_t bucket) {
  ++sweep.unasked;
  set_pending(sweep, bucket, true);
}

void SweepBook::set_pending(Sweep& sweep, std::uint32_t bucket, bool pending) {
  sweep.pending.set(bucket, pending);
  refresh(bucket);
}

bool SweepBook::claimed(std::uint32_t bucket) const {
  return std::ranges::any_of(active_, [&](const Sweep& sweep) {
    return sweep.claims && sweep.pending.contains(bucket) && bucket + 1 < count_ &&
           (bucket >= made_from_ || sweep.step < earned_);
  });
}

/// Recomputes, for each sweep, whether it may ask for this bucket.
void SweepBook::refresh(std::uint32_t bucket) {
  if (stale_) return;
  const bool open = buckets_.is_open(bucket);
  const bool claimed = !open && this->claimed(bucket);
  for (Sweep& sweep : active_) {
    ++looked_;
    const bool free =
        sweep.neighbour->shared || (!claimed && !(heeds_turns(sweep) && blocked(sweep, bucket)));
    sweep.ready.set(bucket, free && !open && sweep.pending.contains(bucket));
  }
}

Word SweepBook::claimed_word(std::size_t index) const {
  const std::uint32_t begin = static_cast<std::uint32_t>(index) * BucketSet::kBits;
  /// The bits of buckets from `first` on.
  const auto from = [begin](std::uint32_t first) -> Word {
    if (first <= begin) return ~Word{0};
    return first - begin >= BucketSet::kBits ? 0 : ~Word{0} << (first - begin);
  };
  Word word = 0;
  for (const Sweep& sweep : active_) {
    if (!sweep.claims) continue;
    word |= sweep.pending.word(index) & (sweep.step < earned_ ? ~Word{0} : from(made_from_));
  }
  return word & ~from(count_ - 1);
}

Word SweepBook::blocked_word(const Sweep& sweep, std::size_t index) const {
  Word word = 0;
  for (const Sweep& earlier : active_) {
    if (&earlier == &sweep) break;
    if (earlier.in_turn && earlier.step == sweep.step) word |= earlier.pending.word(index);
  }
  return word;
}

/// Recomputes `ready` of every sweep after rules or sweeps have changed. Reads every word of every
/// set; there are a few such changes in a step.
void SweepBook::refresh_all() {
  if (!stale_) return;
  stale_ = false;
  for (Sweep& sweep : active_) {
    for (std::size_t i = 0; i < sweep.ready.words(); ++i) {
      ++looked_;
      Word word = sweep.pending.word(i) & ~buckets_.all_open().word(i);
      if (word != 0 && !sweep.neighbour->shared) {
        word &= ~claimed_word(i);
        if (heeds_turns(sweep)) word &= ~blocked_word(sweep, i);
      }
      sweep.ready.set_word(i, word);
    }
    sweep.ready.rebuild();
  }
}

}  // namespace stencil
