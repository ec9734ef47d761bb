#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stencil/core/message.h"
#include "stencil/core/states.h"
#include "stencil/core/types.h"
#include "stencil/engine/steps.h"

namespace stencil {

/// One of our offers that is not yet settled.
struct OpenOffer {
  std::uint64_t sequence = 0;
  std::uint32_t bucket = 0;
  TimePoint since{};
  bool parked = false;  ///< the neighbour is silent: the bucket may be offered elsewhere meanwhile
};

/// An exchange that two crossed offers made: ours stands in for the answer to theirs until they say
/// that they have settled it.
struct Crossed {
  std::uint64_t theirs = 0;
  std::uint64_t ours = 0;
};

/// An offer of theirs that waits for its turn to be answered.
struct HeldOffer {
  std::uint64_t sequence = 0;
  std::uint32_t bucket = 0;
  bool ahead = false;  ///< see Message
  TimePoint since{};
};

/// The book-keeping of one edge at one end: epochs, sequence numbers, open offers, liveness. Plain
/// data with a few derived questions; the Engine decides.
///
/// Epochs make a broken connection harmless. Whoever begins (a new link, a gap, a reply that does
/// not come) raises its own epoch and says Hello until the other's Hello carries that epoch back.
/// A frame counts only if it carries both ends' present epochs, and the counters in a Hello are
/// acted on only if it carries our present epoch: its sender then accepts nothing older, so what
/// it says of our offers is final.
struct Edge {
  Rank rank = kNoRank;
  LinkState state = LinkState::kConnecting;

  // Epochs.
  std::uint32_t my_epoch = 0;
  std::uint32_t peer_epoch = 0;  ///< 0: none known
  bool shared = false;           ///< the model's buckets are exchanged in shared memory
  bool has_link = false;         ///< the transport can carry frames
  bool acknowledged = false;     ///< their Hello carried my_epoch and was acted on
  bool told = false;             ///< a Hello of ours carried peer_epoch
  std::uint64_t peer_incarnation = 0;
  std::uint64_t peer_initial_hash = 0;
  bool fresh = false;            ///< it was a newcomer when its present life first spoke to us
  std::uint32_t generation = 0;  ///< added to our incarnation once they were given up

  // Sequence numbers, per direction.
  std::uint64_t next_offer = 1;
  std::uint64_t answered = 0;  ///< highest of their offers that we answered
  std::uint64_t released = 0;  ///< highest of their offers whose reply they settled
  // As short as the windows, so that taking from the front costs little, and their memory is kept.
  std::vector<std::uint64_t> retained;  ///< of those in between, the ones answered with a payload
  std::vector<OpenOffer> open;
  std::vector<Crossed> crossed;
  std::vector<HeldOffer> held;  ///< of theirs, after `answered`

  // What the neighbour last said of itself.
  WorkerState peer_state = WorkerState::kJoining;
  Steps steps;
  std::uint32_t peer_calm = 0;
  std::uint64_t peer_said = 0;  ///< the newest message that the three above are of

  // Mode bounded.
  bool paced = false;            ///< in_pace(), when they last spoke
  std::uint64_t head_start = 0;  ///< our steps ahead of theirs that do not count

  // Times.
  TimePoint heard{};  ///< any valid frame
  TimePoint moved{};  ///< an offer, a reply or a snapshot of theirs
  TimePoint sent{};   ///< any frame of ours
  TimePoint hello_sent{};
  TimePoint swept{};  ///< a sweep completed
  bool ever_heard = false;
  std::uint64_t sweeps = 0;      ///< completed, begun by us
  std::uint64_t swept_step = 0;  ///< our step at the last completed sweep
  std::uint64_t ask_order = 0;   ///< for "asked longest ago", free of clock resolution
  Duration round_trip{};         ///< of a bucket, decayed mean; 0 before the first

  [[nodiscard]] bool up() const { return state == LinkState::kUp && acknowledged && has_link; }
  /// May be asked for an exchange.
  [[nodiscard]] bool askable() const {
    return up() && (peer_state == WorkerState::kTraining || peer_state == WorkerState::kSettling ||
                    peer_state == WorkerState::kSettled);
  }
  /// Counts as alive for waiting and settling.
  [[nodiscard]] bool living() const {
    return state == LinkState::kUp || state == LinkState::kSuspect;
  }
  /// Mode bounded: their steps hold up ours.
  [[nodiscard]] bool in_pace() const {
    return state == LinkState::kUp && peer_state == WorkerState::kTraining;
  }
  /// They have spoken. Whoever comes, or comes back, while we are ahead by more than the mode's
  /// bound is not waited for until it has made up for that: its steps count from where it comes in,
  /// or from nearer where it catches up.
  void note_pace(std::uint64_t step, std::uint64_t bound) {
    const std::uint64_t ahead = step > steps.count ? step - steps.count : 0;
    if (!paced) head_start = ahead > bound ? ahead : 0;
    head_start = std::min(head_start, ahead);
    paced = in_pace();
  }
  /// All of our offers up to this one are settled.
  [[nodiscard]] std::uint64_t settled() const {
    return open.empty() ? next_offer - 1 : open.front().sequence - 1;
  }
  [[nodiscard]] std::uint64_t unreleased() const { return answered - released; }
  [[nodiscard]] OpenOffer* find_open(std::uint64_t sequence);
  [[nodiscard]] OpenOffer* find_crossing(std::uint32_t bucket);
  void erase_open(std::uint64_t sequence);
};

/// Why two workers must not exchange, naming both sides' values; nothing when they may.
[[nodiscard]] std::optional<std::string> mismatch(const Hello& ours, const Hello& theirs,
                                                  bool adopt_initial);

}  // namespace stencil
