#include "stencil/mix/codecs/top_k.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>

#include "stencil/mix/blocks.h"
#include "stencil/mix/kernels.h"

namespace stencil {
namespace {

using edge_delta::Outcome;

/// Bins of magnitudes, by exponent and 4 bits of fraction. Bin 0 holds 0 and magnitudes below
/// 2^-126 / 16, which are not worth showing.
constexpr int kDropped = 19;
constexpr std::uint32_t kBins = 1U << (31 - kDropped);

std::uint32_t bin(float value) {
  return (std::bit_cast<std::uint32_t>(value) & 0x7fffffffU) >> kDropped;
}

using Bins = std::array<std::uint32_t, kBins>;

/// Which coordinates an offer shows: `stretch` of them from `turn` on, all in a bin above `edge`,
/// and the first `of_edge` in that bin.
struct Choice {
  std::size_t stretch = 0;
  std::uint32_t edge = 0;
  std::size_t of_edge = 0;
};

/// `bins` counts the magnitudes of `news`.
Choice choose(Bins& bins, std::span<const float> news, std::uint32_t turn, std::size_t count) {
  Choice choice{.stretch = TopKEdgeCodec::by_turns(count), .edge = kBins - 1};
  const auto at = [&](std::size_t i) { return (turn + i) % news.size(); };
  for (std::size_t i = 0; i < choice.stretch; ++i) --bins[bin(news[at(i)])];
  choice.of_edge = count - choice.stretch;
  for (; choice.edge > 0 && bins[choice.edge] <= choice.of_edge; --choice.edge) {
    choice.of_edge -= bins[choice.edge];
  }
  if (choice.edge > 0) return choice;
  for (; choice.of_edge > 0; ++choice.stretch) {
    if (bin(news[at(choice.stretch)]) == 0) --choice.of_edge;
  }
  return choice;
}

/// Writes the chosen coordinates in increasing order.
void write_choice(Choice choice, std::span<const float> news, std::uint32_t turn,
                  std::span<std::uint32_t> chosen) {
  std::size_t count = 0;
  if (choice.edge == 0) choice.of_edge = 0;
  const auto take_all = [&](std::size_t begin, std::size_t end) {
    for (; begin < end; ++begin) chosen[count++] = static_cast<std::uint32_t>(begin);
  };
  const auto take_furthest = [&](std::size_t begin, std::size_t end) {
    const std::uint32_t bound = std::max(choice.edge, 1U) << kDropped;
    const std::size_t found =
        count + kernels::at_least(news.data() + begin, end - begin, bound,
                                  static_cast<std::uint32_t>(begin), &chosen[count]);
    for (std::size_t j = count; j < found; ++j) {
      if (bin(news[chosen[j]]) == choice.edge) {
        if (choice.of_edge == 0) continue;
        --choice.of_edge;
      }
      chosen[count++] = chosen[j];
    }
  };
  // The stretch may wrap around to the start of the bucket.
  const std::size_t end = turn + choice.stretch;
  const std::size_t wrapped = end > news.size() ? end - news.size() : 0;
  take_all(0, wrapped);
  take_furthest(wrapped, turn);
  take_all(turn, std::min(end, news.size()));
  take_furthest(std::min(end, news.size()), news.size());
}

/// Finds the first coordinate from `turn` on that is not among those visited, which come in
/// increasing order.
class TurnsTaken {
 public:
  TurnsTaken(std::uint32_t turn, std::size_t floats) : next_(turn), floats_(floats) {}
  void visit(std::uint32_t index) { next_ += index == next_ ? 1 : 0; }
  [[nodiscard]] std::uint32_t next() const { return next_ < floats_ ? next_ : 0; }

 private:
  std::uint32_t next_;
  std::size_t floats_;
};

/// Calls `visit` for each coordinate that both show, with its values.
template <typename Visit>
void for_common(const Part& a, const Part& b, Visit visit) {
  for (Part::Walk in_a(a), in_b(b); !in_a.done() && !in_b.done();) {
    const std::uint32_t of_a = in_a.index(), of_b = in_b.index();
    if (of_a == of_b) visit(of_a, in_a.value(), in_b.value());
    if (of_a <= of_b) in_a.next();
    if (of_b <= of_a) in_b.next();
  }
}

std::optional<Part> read(const CodedOffer& offer, std::size_t floats) {
  return offer.exact ? Part::whole(offer.bytes) : Part::read(offer.bytes, floats);
}

Outcome malformed() {
  return {.finite = false, .malformed = true};
}

}  // namespace

TopKEdgeCodec::TopKEdgeCodec(TopK top_k, CodecNumber number, const Layout& layout,
                             std::span<const float> initial)
    : top_k_(top_k),
      number_(number),
      bucket_floats_(layout.bucket_floats()),
      values_(initial.begin(), initial.end()),
      turns_(layout.bucket_count()) {}

CodedForm TopKEdgeCodec::offer_form(std::size_t floats) const {
  return {number_, top_k_.offer_size(floats)};
}

CodedForm TopKEdgeCodec::reply_form(std::size_t floats) const {
  return {number_, top_k_.reply_size(floats)};
}

TopKEdgeCodec::Shown TopKEdgeCodec::shown(const BucketValues& ours) {
  const std::size_t begin = ours.bucket * bucket_floats_;
  return {std::span(values_).subspan(begin, ours.y.size()), turns_[ours.bucket]};
}

Outcome TopKEdgeCodec::offer(BucketValues ours, std::span<std::byte> out) {
  const std::span<const float> y = ours.y;
  const std::span<float> p = ours.p;
  const Shown shown = this->shown(ours);
  const std::size_t count = top_k_.count(y.size());
  if (news_.size() < y.size()) {
    news_.resize(bucket_floats_);
    chosen_.resize(bucket_floats_ + 1);
  }
  const std::span news = std::span(news_).first(y.size());
  Outcome outcome;
  // Two tables, used alternately: a count that was just written cannot be read at once.
  Bins bins{}, others{};
  for_blocks(y.size(), [&](std::size_t begin, std::size_t n) {
    const kernels::Sums sums =
        kernels::difference(&shown.values[begin], &y[begin], &p[begin], 1.0F, &news[begin], n);
    outcome.finite &= sums.finite;
    outcome.norm2 += sums.norm2;
    std::size_t i = begin;
    for (; i + 1 < begin + n; i += 2) ++bins[bin(news[i])], ++others[bin(news[i + 1])];
    if (i < begin + n) ++bins[bin(news[i])];
  });
  if (!outcome.finite) return outcome;
  for (std::uint32_t i = 0; i < kBins; ++i) bins[i] += others[i];
  const Choice choice = choose(bins, news, shown.turn, count);
  write_choice(choice, news, shown.turn, chosen_);
  PartWriter writer(out, shown.turn, y.size(), count);
  for (const std::uint32_t i : std::span(chosen_).first(count)) writer.add(i, y[i] + p[i]);
  return outcome;
}

Outcome TopKEdgeCodec::answer(BucketValues ours, std::span<const std::byte> offer, int divisor,
                              std::span<std::byte> reply) {
  const std::span<const float> y = ours.y;
  const std::span<float> p = ours.p;
  const std::optional<Part> theirs = Part::read(offer, y.size());
  if (!theirs) return malformed();
  const Shown shown = this->shown(ours);
  Outcome outcome;
  const float beta = 1.0F / static_cast<float>(divisor);
  theirs->for_each([&](std::size_t j, std::uint32_t i, float value) {
    const float difference = value - (y[i] + p[i]);
    outcome.finite &= std::isfinite(difference);
    outcome.distance2 += double{difference} * difference;
    store_delta(beta * difference, reply, j);
  });
  if (!outcome.finite) return outcome;
  TurnsTaken turns(theirs->turn(), p.size());
  theirs->for_each([&](std::size_t j, std::uint32_t i, float) {
    p[i] += load_delta(reply, j);
    shown.values[i] = y[i] + p[i];
    turns.visit(i);
  });
  shown.turn = turns.next();
  return outcome;
}

Outcome TopKEdgeCodec::complete(BucketValues ours, std::span<const std::byte> offer,
                                std::span<const std::byte> reply, int divisor) {
  const std::span<float> p = ours.p;
  const std::optional<Part> offered = Part::read(offer, p.size());
  if (!offered) return malformed();
  const Shown shown = this->shown(ours);
  Outcome outcome;
  for (std::size_t j = 0; j < offered->size(); ++j) {
    outcome.finite &= std::isfinite(load_delta(reply, j));
  }
  if (!outcome.finite) return outcome;
  TurnsTaken turns(offered->turn(), p.size());
  offered->for_each([&](std::size_t j, std::uint32_t i, float value) {
    const float delta = load_delta(reply, j);
    p[i] -= delta;
    shown.values[i] = value - delta;
    outcome.distance2 += double{delta} * delta;
    turns.visit(i);
  });
  outcome.distance2 *= static_cast<double>(divisor) * divisor;
  shown.turn = turns.next();
  return outcome;
}

Outcome TopKEdgeCodec::merge(BucketValues ours, CodedOffer offered, CodedOffer theirs) {
  const std::span<float> p = ours.p;
  const std::optional<Part> mine = read(offered, p.size()), other = read(theirs, p.size());
  if (!mine || !other) return malformed();
  const Shown shown = this->shown(ours);
  Outcome outcome;
  for_common(*mine, *other,
             [&](std::uint32_t, float a, float b) { outcome.finite &= std::isfinite(b - a); });
  if (!outcome.finite) return outcome;
  TurnsTaken turns(std::max(mine->turn(), other->turn()), p.size());
  for_common(*mine, *other, [&](std::uint32_t i, float a, float b) {
    const float delta = 0.5F * (b - a);
    p[i] += delta;
    shown.values[i] = a + delta;
    outcome.distance2 += 4 * double{delta} * delta;
    turns.visit(i);
  });
  shown.turn = turns.next();
  return outcome;
}

void TopKEdgeCodec::adopted(BucketValues ours) {
  const std::span<float> values = shown(ours).values;
  (void)kernels::sum(ours.y.data(), ours.p.data(), values.data(), values.size());
}

}  // namespace stencil
