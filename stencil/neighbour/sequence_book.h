#pragma once

#include <cstdint>
#include <vector>

#include "stencil/core/message.h"
#include "stencil/core/types.h"

namespace stencil {

/// One of our offers that is not yet complete: no reply to it has been applied.
struct OpenOffer {
  std::uint64_t sequence = 0;
  std::uint32_t bucket = 0;
  TimePoint since{};
  bool parked = false;  ///< the neighbour is silent; the bucket may be offered elsewhere meanwhile

  // As it was sent.
  bool made = false;  ///< false: the fields below are not set yet
  CodecNumber codec = kExact;
  Payload payload{};  ///< null: an offer without values
  /// Made after our last step, so it shows the final model.
  bool finishing = false;
  double norm2 = 0;  ///< |z|^2 of the bucket, where it was at hand
};

/// The answer to an offer of theirs, kept until they have applied it: a Reply of ours, or an Offer
/// of ours that crossed theirs and takes the place of a reply.
struct KeptAnswer {
  std::uint64_t sequence = 0;  ///< of their offer
  bool mixes = false;          ///< not declined: it counts for EngineConfig::retained_total
  bool struck = false;         ///< its bucket was removed from a sweep of ours
  Message message;

  [[nodiscard]] bool crossed() const { return message.is<Offer>(); }
};

/// An offer of theirs that waits for its turn to be answered.
struct HeldOffer {
  Message message;  ///< an Offer
  TimePoint since{};

  [[nodiscard]] const Offer& offer() const { return *message.as<Offer>(); }
};

/// The sequence numbers of the offers on one edge, in both directions, and the messages kept until
/// they are applied, payloads included. Invariants:
///
///  1. our offers are numbered from 1 without a gap, and `open` holds those not complete, in order;
///  2. theirs are answered in order: all up to `answered`, and none beyond;
///  3. `kept` holds the answers to those between `released` and `answered`, in order;
///  4. `held` holds those that follow `answered`, in order, without a gap.
///
/// Plain data with a few derived questions; the engine decides. The vectors are as short as the
/// windows, so taking from the front costs little, and they keep their memory.
struct SequenceBook {
  std::uint64_t next_offer = 1;
  std::uint64_t answered = 0;  ///< highest of their offers that we answered
  std::uint64_t released = 0;  ///< highest of their offers whose reply they applied
  std::vector<OpenOffer> open;
  std::vector<KeptAnswer> kept;
  std::vector<HeldOffer> held;
  std::size_t mixing = 0;  ///< how many of `kept` are not declines

  /// All of our offers up to this one are complete.
  [[nodiscard]] std::uint64_t completed() const {
    return open.empty() ? next_offer - 1 : open.front().sequence - 1;
  }
  [[nodiscard]] std::uint64_t unreleased() const { return answered - released; }
  /// Null where there is none.
  [[nodiscard]] OpenOffer* find_open(std::uint64_t sequence);
  [[nodiscard]] const OpenOffer* find_open(std::uint64_t sequence) const;
  [[nodiscard]] OpenOffer* find_crossing(std::uint32_t bucket);
  /// Removes it from `open`. Throws InvariantError where it is not there.
  OpenOffer take_open(std::uint64_t sequence);

  /// Notes that their next offer, `sequence`, is answered. The caller fills in the answer later.
  KeptAnswer& keep(std::uint64_t sequence, bool mixes);
  /// The kept answer to their offer `sequence`. Throws InvariantError where there is none.
  [[nodiscard]] KeptAnswer& answer_to(std::uint64_t sequence);
  /// Notes that an answer that was meant to mix could not.
  void declined(KeptAnswer& answer);
  /// They have applied our answers up to `applied`.
  void release(std::uint64_t applied);
};

}  // namespace stencil
