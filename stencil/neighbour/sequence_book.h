#pragma once

#include <cstdint>
#include <vector>

#include "stencil/core/message.h"
#include "stencil/core/types.h"

namespace stencil {

/// One of our offers that is not yet settled.
struct OpenOffer {
  std::uint64_t sequence = 0;
  std::uint32_t bucket = 0;
  TimePoint since{};
  bool parked = false;  ///< the neighbour is silent: the bucket may be offered elsewhere meanwhile

  // As it was sent.
  bool made = false;  ///< not before this
  CodecNumber codec = kExact;
  Payload payload{};  ///< none: an offer of nothing
  /// Made after our last step, so it shows the model that is to be agreed on.
  bool finishing = false;
  double norm2 = 0;  ///< |z|^2 of the bucket, where it was at hand
};

/// What answers an offer of theirs, kept until they have settled it: a Reply of ours, or an Offer
/// of ours that crossed theirs and stands in for one.
struct KeptAnswer {
  std::uint64_t sequence = 0;  ///< of their offer
  bool mixes = false;          ///< not declined: it counts for EngineConfig::retained_total
  bool met = false;            ///< its bucket was struck off a sweep of ours
  Message message;

  [[nodiscard]] bool crossed() const { return message.is<Offer>(); }
};

/// An offer of theirs that waits for its turn to be answered.
struct HeldOffer {
  Message message;  ///< an Offer
  TimePoint since{};

  [[nodiscard]] const Offer& offer() const { return *message.as<Offer>(); }
};

/// The numbers of the offers on one edge, in both directions, and what is kept for each until it is
/// settled, payloads included. Keeps true:
///
///  1. our offers are numbered from 1 without a hole, and `open` holds those not settled, in order;
///  2. theirs are answered in order: all up to `answered`, and none beyond;
///  3. `kept` holds the answers to those between `released` and `answered`, in order;
///  4. `held` holds those that follow `answered`, in order, without a hole.
///
/// Plain data with a few derived questions; the engine decides. The vectors are as short as the
/// windows, so taking from the front costs little, and their memory is kept.
struct SequenceBook {
  std::uint64_t next_offer = 1;
  std::uint64_t answered = 0;  ///< highest of their offers that we answered
  std::uint64_t released = 0;  ///< highest of their offers whose reply they settled
  std::vector<OpenOffer> open;
  std::vector<KeptAnswer> kept;
  std::vector<HeldOffer> held;
  std::size_t mixing = 0;  ///< of `kept`, those that are no declines

  /// All of our offers up to this one are settled.
  [[nodiscard]] std::uint64_t settled() const {
    return open.empty() ? next_offer - 1 : open.front().sequence - 1;
  }
  [[nodiscard]] std::uint64_t unreleased() const { return answered - released; }
  /// Null where there is none.
  [[nodiscard]] OpenOffer* find_open(std::uint64_t sequence);
  [[nodiscard]] const OpenOffer* find_open(std::uint64_t sequence) const;
  [[nodiscard]] OpenOffer* find_crossing(std::uint32_t bucket);
  /// Takes it out of `open`, where it is.
  OpenOffer take_open(std::uint64_t sequence);

  /// The next of theirs, `sequence`, is answered; what answers it is filled in later.
  KeptAnswer& keep(std::uint64_t sequence, bool mixes);
  /// The answer to their offer `sequence`, which is kept.
  [[nodiscard]] KeptAnswer& answer_to(std::uint64_t sequence);
  /// It was meant to mix, and could not.
  void declined(KeptAnswer& answer);
  /// Their offers up to `settled` are settled by them.
  void release(std::uint64_t settled);
};

}  // namespace stencil
