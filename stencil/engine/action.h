#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "stencil/core/message.h"
#include "stencil/neighbour/neighbour.h"

namespace stencil {

/// What the engine asks its caller to do. Each action owns all that it needs, payloads included,
/// and frees what is not handed on. The neighbours outlive the actions.
namespace action {

struct Send {
  Neighbour* to;
  Message message;  ///< stamped when it is sent, unless it already is
};
/// Encode z of `bucket` and send it as our offer `sequence`, which stands open in the book.
struct MakeOffer {
  Neighbour* to;
  std::uint32_t bucket;
  std::uint64_t sequence;
};
/// Answer their offer with 1 / `divisor`, or with d = 0 and `status` where the divisor is 0. Send
/// the reply and store it in the answer that the book keeps for the offer. Where it could not be
/// mixed after all, call Engine::on_declined().
struct Answer {
  Neighbour* to;
  Message message;  ///< their offer
  std::uint8_t divisor = 0;
  ReplyStatus status = ReplyStatus::kDelta;
};
/// Their offer crossed ours: apply both, send nothing. The book keeps ours as the answer to theirs.
struct Merge {
  Neighbour* with;
  OpenOffer ours;
  Message message;  ///< their offer
};
/// Their reply settles our offer.
struct Settle {
  Neighbour* with;
  OpenOffer ours;
  Message message;  ///< their reply
};
/// Average `bucket` with the neighbour's shared memory, then call Engine::on_share().
struct Share {
  Neighbour* with;
  std::uint32_t bucket;
};
/// Answer a pull of `bucket` with a snapshot.
struct Serve {
  Neighbour* to;
  std::uint32_t bucket;
  std::uint64_t round;
};
/// Adopt a snapshot (joining). Without a payload, a copy was broken off: restore the own model in
/// this bucket.
struct Adopt {
  Neighbour* from;
  Snapshot snapshot;
  bool initial = false;  ///< initial weights: see Mixer::begin_with()
};
/// Add a snapshot with the neighbour's weight (lock step).
struct Absorb {
  Neighbour* from;
  Snapshot snapshot;
};
/// Report that this neighbour cannot exchange with us.
struct Refused {
  Neighbour* by;
  std::string text;  ///< why
};

/// Tell the user something about this neighbour.
struct Warn {
  Neighbour* about;
  std::string text;
};

}  // namespace action

using Action = std::variant<action::Send, action::MakeOffer, action::Answer, action::Merge,
                            action::Settle, action::Share, action::Serve, action::Adopt,
                            action::Absorb, action::Refused, action::Warn>;
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
  kHeld,     ///< another process holds the bucket: try again later
};

}  // namespace stencil
