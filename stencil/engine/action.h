#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "stencil/core/message.h"
#include "stencil/neighbour/neighbour.h"

namespace stencil {

/// What the engine wants done. Each holds all that it is about, payloads included: what is not
/// handed on is freed with it. The neighbours outlive them.
namespace action {

struct Send {
  Neighbour* to;
  Message message;  ///< stamped when it is sent, where it is not yet
};
/// Encode z of `bucket` and send it as our offer `sequence`, which stands open in the book.
struct MakeOffer {
  Neighbour* to;
  std::uint32_t bucket;
  std::uint64_t sequence;
};
/// Answer their offer with 1 / `divisor`, or with d = 0 and `status` where the divisor is 0; send
/// that, and leave it with the answer which the book keeps for the offer. Where it could not be
/// mixed after all: Engine::on_declined().
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
/// Average `bucket` with the neighbour's shared memory; then Engine::on_share().
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
/// Take over a snapshot (joining); without a payload the bucket was half of a copy: back to the own
/// model.
struct Adopt {
  Neighbour* from;
  Snapshot snapshot;
};
/// Add a snapshot with the neighbour's weight (lock step).
struct Absorb {
  Neighbour* from;
  Snapshot snapshot;
};
/// No exchange with this neighbour, for ever.
struct Refused {
  Neighbour* by;
  std::string text;  ///< why
};

}  // namespace action

using Action =
    std::variant<action::Send, action::MakeOffer, action::Answer, action::Merge, action::Settle,
                 action::Share, action::Serve, action::Adopt, action::Absorb, action::Refused>;
/// To be done in order, once the input that they come of is handled.
using Actions = std::vector<Action>;

/// What the training thread waits for at a step boundary.
enum class Pause : std::uint8_t {
  kNone,       ///< nothing: the next step may begin, or is under way
  kGathering,  ///< for neighbours to reach theirs: no sweep of this boundary begins
  kSweeping,   ///< for its sweeps
};

/// What came of a Share.
enum class ShareResult : std::uint8_t {
  kDone,
  kRefused,  ///< d = 0: it is busy, takes no part, or is not finite
  kHeld,     ///< another process holds the bucket: try again later
};

}  // namespace stencil
