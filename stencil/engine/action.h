#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stencil/core/message.h"
#include "stencil/core/types.h"

namespace stencil {

/// What the engine wants done, in order. The pump does it: the engine itself knows no payload.
struct Action {
  enum class Kind : std::uint8_t {
    kSend,      ///< a control message, complete
    kOffer,     ///< encode z of `bucket` and send it as offer `sequence`
    kHold,      ///< keep the offer in hand: a later action answers, declines or merges it
    kDrop,      ///< what is kept so of this neighbour is void
    kAnswer,    ///< answer their offer `sequence` with 1 / `divisor`, reply and retain the reply
    kDecline,   ///< answer it with d = 0 and `status`; retain that too (it settles the sequence)
    kMerge,     ///< their offer `sequence` crossed our offer `own_sequence`: apply both, send
                ///< nothing, retain our offer as the answer in case the link breaks
    kSettle,    ///< the reply in hand answers our offer `sequence`
    kShare,     ///< average `bucket` with the neighbour's shared memory; then Engine::on_share()
    kPark,      ///< our offer `sequence` is put aside: its bucket may be offered elsewhere
    kWithdraw,  ///< our offer `sequence` never arrived: forget it
    kLost,      ///< our offer `sequence` may have been answered by a worker that is no more
    kRelease,   ///< retained replies up to `sequence` were settled: forget them
    kResend,    ///< send retained replies above `sequence` again, in order; crossed offers among
                ///< them are renumbered from `own_sequence` on
    kForget,    ///< the neighbour restarted or is gone: drop what is retained for it (counted)
    kServe,     ///< answer the pull in hand with a snapshot
    kAdopt,     ///< take over the snapshot in hand (joining)
    kDiscard,   ///< what was adopted of `bucket` is half of a copy: back to the own model
    kAbsorb,    ///< add the snapshot in hand with the edge's mixing weight (lock-step)
    kRefused,   ///< no exchange with `rank`, for ever: `text` says why
  };
  Kind kind = Kind::kSend;
  Rank rank = kNoRank;
  std::uint32_t bucket = 0;
  std::uint64_t sequence = 0;
  std::uint64_t own_sequence = 0;
  std::uint8_t divisor = 0;
  ReplyStatus status = ReplyStatus::kDelta;
  std::optional<Message> message{};  ///< kSend only
  std::string text{};                ///< kRefused only
};

using Actions = std::vector<Action>;

/// What the training thread waits for at a step boundary.
enum class Pause : std::uint8_t {
  kNone,       ///< nothing: the next step may begin, or is under way
  kGathering,  ///< for neighbours to reach theirs: no sweep of this boundary begins
  kSweeping,   ///< for its sweeps
};

/// What came of a kShare.
enum class ShareResult : std::uint8_t {
  kDone,
  kRefused,  ///< d = 0: it is busy, takes no part, or is not finite
  kHeld,     ///< another process holds the bucket: try again later
};

}  // namespace stencil
