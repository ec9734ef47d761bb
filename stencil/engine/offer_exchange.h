#pragma once

#include <cstddef>
#include <cstdint>

#include "stencil/engine/self.h"
#include "stencil/engine/sweeps.h"
#include "stencil/engine/turn_keeper.h"

namespace stencil {

/// What the runtime made of one of our offers.
struct MadeOffer {
  CodecNumber codec = kExact;
  Payload payload{};       ///< null: without values
  bool finishing = false;  ///< after our last step, so it shows the final model
  double norm2 = 0;        ///< |z|^2 of the bucket, where it was at hand
};

/// Offers, answers and crossings on every edge, see SequenceBook. Invariants:
///
///  1. A bucket has at most one request of ours open, and answers meanwhile by the rule of
///     BucketBook.
///  2. Every offer of theirs is answered once, in order: mixed, declined or crossed. So an answer
///     implies the answers to all offers before it.
///  3. An answer is kept until they have applied it, and sent again when the edge is synchronised
///     anew. Offers that they have not answered are withdrawn then. So no delta is applied at one
///     end only, except where a worker dies.
///  4. Both ends see two offers as crossed, or neither does, since the connection is ordered: had
///     they answered our offer before making theirs, the answer would have come first.
///  5. The windows and retained_total bound the open, kept and held messages, whatever neighbours
///     do.
///
/// One thread.
class OfferExchange {
 public:
  OfferExchange(Self& self, SweepBook& sweeps, TurnKeeper& turns)
      : self_(self), sweeps_(sweeps), turns_(turns) {}

  // Frames of the neighbour's present life and epoch.
  /// Returns false where a sequence number jumped: the caller must synchronise the edge anew.
  [[nodiscard]] bool on_offer(TimePoint now, Neighbour& neighbour, const Message& message,
                              Actions& out);
  void on_reply(TimePoint now, Neighbour& neighbour, const Message& message, Actions& out);
  /// They have applied our replies up to `applied`.
  void release(Neighbour& neighbour, std::uint64_t applied);
  /// Our offer `sequence` is made: it is sent as it stands here. Nothing where it is no longer
  /// open.
  void on_offer_made(Neighbour& neighbour, std::uint64_t sequence, MadeOffer made, Actions& out);
  /// `reply` answers an offer of theirs: it is kept and sent. Where it declines what was to be
  /// mixed, the bucket may be asked for again.
  void on_answered(Neighbour& neighbour, Reply reply, Actions& out);

  // The end of an edge, or of a life of it.
  /// A silent neighbour must not hold up buckets: they may be offered to others. The offers that it
  /// may have answered stay in the book until it returns or is given up.
  void park(Neighbour& neighbour);
  /// The neighbour has another life, or none: everything in flight is lost.
  void reset(Neighbour& neighbour);
  /// Our offers after `answered` that have no reply never arrived: withdraws them.
  void withdraw(Neighbour& neighbour, std::uint64_t answered);
  void drop_held(Neighbour& neighbour) { neighbour.book.held.clear(); }
  /// Our offers that they have not answered never arrived: withdraws them. Our answers that they
  /// have not applied are sent again. Our crossed offers take the place of answers, so those that
  /// they have not seen are sent again too, renumbered to follow the last that they saw.
  void take_counters(Neighbour& neighbour, const Hello& hello, Actions& out);

  /// Answers the held offers whose turn has come.
  void take_held(TimePoint now, Actions& out);
  /// Offers the buckets of `sweep` that may be offered, as far as the windows allow.
  void issue(TimePoint now, Sweep& sweep, Actions& out);
  [[nodiscard]] bool has_room() const { return open_total_ < self_.config.window_total; }

  /// Ends `sweep` if it is complete.
  void consider_complete(TimePoint now, const Sweep& sweep);

  /// Appends the buckets whose requests were closed without an action since this was last called.
  void take_closed(std::vector<std::uint32_t>& out) {
    out.insert(out.end(), closed_.begin(), closed_.end());
    closed_.clear();
  }
  /// Appends the neighbours that reset() was called for since this was last called.
  void take_lost(std::vector<Rank>& out) {
    out.insert(out.end(), lost_.begin(), lost_.end());
    lost_.clear();
  }
  /// Our requests that are not complete: all of them, including parked ones of living neighbours;
  /// and only those of neighbours that are up, which are worth waiting for.
  [[nodiscard]] std::size_t open_offers() const;
  [[nodiscard]] std::size_t awaited_offers() const;
  /// Whether each neighbour that may still come back has applied all our replies.
  [[nodiscard]] bool replies_applied() const;

  /// See Engine::fields().
  template <typename A, typename T>
  static void fields(A& a, T& v) {
    a(v.open_total_);
  }

 private:
  void take(TimePoint now, Neighbour& neighbour, const HeldOffer& held, Actions& out);
  void cross(TimePoint now, Neighbour& neighbour, std::uint64_t own, const HeldOffer& held,
             Actions& out);
  /// Our offer is complete: releases its bucket and counts it in its sweep.
  void complete(TimePoint now, Neighbour& neighbour, const OpenOffer& offer);
  void decline(Neighbour& neighbour, KeptAnswer& answer, std::uint32_t bucket);
  void free_bucket(const OpenOffer& offer);
  void resend(Neighbour& neighbour, const Hello& hello, Actions& out);
  [[nodiscard]] std::optional<std::uint32_t> next_bucket(const Sweep& sweep);
  [[nodiscard]] std::size_t mixing() const;

  Self& self_;
  SweepBook& sweeps_;
  TurnKeeper& turns_;
  std::size_t open_total_ = 0;  ///< offers open and not parked
  std::vector<std::uint32_t> closed_;
  std::vector<Rank> lost_;
};

}  // namespace stencil
