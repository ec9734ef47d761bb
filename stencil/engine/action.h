#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "stencil/core/message.h"
#include "stencil/neighbour/sequence_book.h"

namespace stencil {

/// What the engine asks its caller to do. Each action is a value: it owns all that it needs,
/// payloads included, names neighbours by rank and points into nothing.
namespace action {

struct Send {
  Rank to;
  Message message;  ///< stamped when it is sent, unless it already is
};
/// Encode z of `bucket` for our offer `sequence`, and report it to Engine::on_offer_made().
struct MakeOffer {
  Rank to;
  std::uint32_t bucket;
  std::uint64_t sequence;
};
/// Answer their offer with 1 / `divisor`, or with d = 0 and `status` where the divisor is 0, and
/// report the reply to Engine::on_answered().
struct Answer {
  Rank to;
  Message message;  ///< their offer
  std::uint8_t divisor = 0;
  ReplyStatus status = ReplyStatus::kDelta;
};
/// Their offer crossed ours: apply both, send nothing. The book keeps ours as the answer to theirs.
struct Merge {
  Rank with;
  OpenOffer ours;
  Message message;  ///< their offer
};
/// Apply their reply to our offer, which completes it.
struct Complete {
  Rank with;
  OpenOffer ours;
  Message message;  ///< their reply
};
/// Average `bucket` with the neighbour's shared memory, then call Engine::on_share().
struct Share {
  Rank with;
  std::uint32_t bucket;
};
/// Answer a pull of `bucket` with a snapshot.
struct Serve {
  Rank to;
  std::uint32_t bucket;
  std::uint64_t round;
};
/// Adopt a snapshot (joining). Without a payload, a copy was broken off: restore the own model in
/// this bucket.
struct Adopt {
  Rank from;
  Snapshot snapshot;
  bool initial = false;  ///< initial weights: see Mixer::begin_with()
};
/// Take the hash of initial weights that come: add the next piece, a bucket or a chunk of what is
/// carried. Bucket 0 begins a new hash, which is reported to Engine::on_start_hashed() after the
/// last piece.
struct HashStart {
  Rank from;
  std::uint32_t piece;
  Payload payload;  ///< null: of the telemetry, which is left out
  bool last;
};
/// Add a snapshot with the neighbour's weight (lock step).
struct Absorb {
  Rank from;
  Snapshot snapshot;
};
/// Report that this neighbour cannot exchange with us.
struct Refused {
  Rank by;
  std::string text;  ///< why
};

/// Tell the user something about this neighbour.
struct Warn {
  Rank about;
  std::string text;
  std::string cause;  ///< one line is logged for each
};

}  // namespace action

using Action = std::variant<action::Send, action::MakeOffer, action::Answer, action::Merge,
                            action::Complete, action::Share, action::Serve, action::Adopt,
                            action::Absorb, action::Refused, action::Warn, action::HashStart>;
/// To be carried out in order, after the call that appended them returns.
using Actions = std::vector<Action>;

/// What the training thread waits for at a step boundary.
enum class Pause : std::uint8_t {
  kNone,       ///< nothing: the next step may begin, or is in progress
  kGathering,  ///< for neighbours to reach their boundaries: no sweep of this boundary begins
  kSweeping,   ///< for its sweeps
};

/// The outcome of a Share.
enum class ShareResult : std::uint8_t {
  kDone,
  kRefused,  ///< d = 0: the bucket is busy, takes no part, or is not finite
  kLocked,   ///< another process holds the bucket: try again later
};

}  // namespace stencil
