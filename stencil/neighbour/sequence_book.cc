#include "stencil/neighbour/sequence_book.h"

#include <algorithm>
#include <utility>

#include "stencil/core/error.h"

namespace stencil {

OpenOffer* SequenceBook::find_open(std::uint64_t sequence) {
  const auto it = std::ranges::find(open, sequence, &OpenOffer::sequence);
  return it == open.end() ? nullptr : &*it;
}

const OpenOffer* SequenceBook::find_open(std::uint64_t sequence) const {
  return const_cast<SequenceBook*>(this)->find_open(sequence);
}

OpenOffer* SequenceBook::find_crossing(std::uint32_t bucket) {
  const auto it = std::ranges::find(open, bucket, &OpenOffer::bucket);
  return it == open.end() ? nullptr : &*it;
}

OpenOffer SequenceBook::take_open(std::uint64_t sequence) {
  const auto it = std::ranges::find(open, sequence, &OpenOffer::sequence);
  if (it == open.end()) throw InvariantError("SequenceBook: no such offer is open");
  OpenOffer offer = std::move(*it);
  open.erase(it);
  return offer;
}

KeptAnswer& SequenceBook::keep(std::uint64_t sequence, bool mixes) {
  answered = sequence;
  mixing += mixes ? 1 : 0;
  kept.push_back({.sequence = sequence, .mixes = mixes, .struck = false, .message = {}});
  return kept.back();
}

KeptAnswer& SequenceBook::answer_to(std::uint64_t sequence) {
  const auto it = std::ranges::find(kept, sequence, &KeptAnswer::sequence);
  if (it == kept.end()) throw InvariantError("SequenceBook: no answer is kept");
  return *it;
}

void SequenceBook::declined(KeptAnswer& answer) {
  if (answer.mixes) --mixing;
  answer.mixes = false;
}

void SequenceBook::release(std::uint64_t applied) {
  released = applied;
  std::erase_if(kept, [&](const KeptAnswer& answer) {
    if (answer.sequence > applied) return false;
    mixing -= answer.mixes ? 1 : 0;
    return true;
  });
}

}  // namespace stencil
