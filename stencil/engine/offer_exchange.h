#pragma once

#include <cstddef>
#include <cstdint>

#include "stencil/engine/self.h"
#include "stencil/engine/sweeps.h"
#include "stencil/engine/turn_keeper.h"

namespace stencil {

/// Offers, answers and crossings on every edge, see SequenceBook. Keeps true:
///
///  1. A bucket has at most one request of ours open, and answers meanwhile by the rule of
///     BucketBook, whoever asks.
///  2. Every offer of theirs is answered once, in order: mixed, declined or crossed. So an answer
///     stands for all offers before it.
///  3. What has been answered is kept until they say that they have settled it, and sent again when
///     the edge is synchronised anew; what they have not answered is withdrawn then. So no delta is
///     applied at one end only, but where a worker dies.
///  4. Crossed offers are seen as crossed by both ends or by none, on an ordered connection: had
///     they answered our offer before making theirs, the answer would have come first.
///  5. What is open, kept and held is bounded by the windows and by retained_total, whatever
///     neighbours do.
///
/// One thread.
class OfferExchange {
 public:
  OfferExchange(Self& self, SweepBook& sweeps, TurnKeeper& turns)
      : self_(self), sweeps_(sweeps), turns_(turns) {}

  // Frames of the neighbour's present life and epoch.
  /// False where a number jumped: the edge is to be begun anew.
  [[nodiscard]] bool on_offer(TimePoint now, Neighbour& neighbour, const Message& message,
                              Actions& out);
  void on_reply(TimePoint now, Neighbour& neighbour, const Message& message, Actions& out);
  /// They have settled our replies up to `settled`.
  void release(Neighbour& neighbour, std::uint64_t settled);
  /// What came of an Answer that was to mix: nothing. The bucket is ours to ask for again.
  void on_declined(Neighbour& neighbour, std::uint32_t bucket, std::uint64_t sequence);

  // What becomes of an edge.
  /// A silent neighbour must not hold up buckets: they may be offered to others, while what it may
  /// have answered stays on the books until it returns or is given up.
  void park(Neighbour& neighbour);
  /// Another life, or none: all that was under way is lost.
  void reset(Neighbour& neighbour);
  /// What they have not answered, beyond offer `answered`, never arrived.
  void withdraw(Neighbour& neighbour, std::uint64_t answered);
  void drop_held(Neighbour& neighbour) { neighbour.book.held.clear(); }
  /// What they have not answered never arrived and is withdrawn; what we answered and they have not
  /// settled is sent again. Our own crossed offers stand in for answers, so those that they have
  /// not seen are sent again too, numbered to follow what they saw.
  void take_counters(Neighbour& neighbour, const Hello& hello, Actions& out);

  /// Answers those held whose turn has come.
  void take_held(TimePoint now, Actions& out);
  /// Offers what `sweep` may bring, as far as the windows reach.
  void issue(TimePoint now, Sweep& sweep, Actions& out);
  [[nodiscard]] bool has_room() const { return open_total_ < self_.config.window_total; }

  /// A sweep may be complete now: then it ends.
  void consider_complete(TimePoint now, const Sweep& sweep);

  /// Buckets that were closed without an action since this was asked last.
  [[nodiscard]] std::vector<std::uint32_t>& closed() { return closed_; }
  /// Our requests not settled, parked ones of living neighbours included; and those of neighbours
  /// that are up, which is what is worth waiting for.
  [[nodiscard]] std::size_t open_offers() const;
  [[nodiscard]] std::size_t awaited_offers() const;
  /// Each neighbour that can still be heard of has settled all our replies.
  [[nodiscard]] bool replies_settled() const;

 private:
  void take(TimePoint now, Neighbour& neighbour, const HeldOffer& held, Actions& out);
  void cross(TimePoint now, Neighbour& neighbour, std::uint64_t own, const HeldOffer& held,
             Actions& out);
  /// Our offer is settled: its bucket and its sweep go on.
  void close(TimePoint now, Neighbour& neighbour, const OpenOffer& offer);
  void free_bucket(const OpenOffer& offer);
  void resend(Neighbour& neighbour, const Hello& hello, Actions& out);
  [[nodiscard]] std::optional<std::uint32_t> next_bucket(const Sweep& sweep);
  [[nodiscard]] std::size_t mixing() const;

  Self& self_;
  SweepBook& sweeps_;
  TurnKeeper& turns_;
  std::size_t open_total_ = 0;  ///< offers open and not parked
  std::vector<std::uint32_t> closed_;
};

}  // namespace stencil
