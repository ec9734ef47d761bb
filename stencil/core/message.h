#pragma once

#include <cstdint>
#include <string>

#include "stencil/core/codec_spec.h"
#include "stencil/core/frame.h"
#include "stencil/core/states.h"
#include "stencil/core/types.h"

namespace stencil {

/// Raised when the meaning of any message changes.
inline constexpr std::uint32_t kProtocolVersion = 5;

enum class MessageKind : std::uint8_t {
  kHello,         ///< who I am and where our sequence numbers stand; opens a link
  kHelloRequest,  ///< "I do not know this link: say Hello"
  kRefusal,       ///< `text` says why no exchange is possible, naming both sides' values
  kOffer,         ///< payload: my z of `bucket`, encoded; none where it cannot be read just now
  kReply,         ///< answer to offer `sequence`: payload the delta, or none (see ReplyStatus)
  kPull,          ///< asks for `bucket` as it stands (round 0) or as of lock-step round `round`
  kSnapshot,      ///< answer to a pull: payload the values, no delta involved
  kHeartbeat,
  kLeave,  ///< good-bye: will send nothing more
};

enum class ReplyStatus : std::uint8_t {
  kDelta,     ///< payload holds d; the answerer has added it
  kBusy,      ///< d = 0: bucket has answered enough for now, or a budget is used up
  kFrozen,    ///< d = 0: the answerer has finished
  kRejected,  ///< d = 0: the offer was not finite
};

/// Said once per link, by both ends.
struct Hello {
  std::uint32_t protocol = kProtocolVersion;
  std::string run_id;
  std::string topology;
  std::uint64_t incarnation = 0;  ///< differs at each start of a worker
  std::uint64_t layout_hash = 0;
  std::uint64_t initial_hash = 0;  ///< of the initial weights
  std::string mode;                ///< "async", "bounded:K", "sync"
  CodecSpec codec{};
  std::uint64_t last_answered = 0;  ///< highest of your offers that I have answered
  std::uint64_t last_settled = 0;   ///< highest of my offers that I have settled
  std::string meeting{};            ///< the way to my shared memory, see Meeting::token(); or empty
};

/// One message between neighbours, as the engine sees it. Value type.
struct Message {
  MessageKind kind = MessageKind::kHeartbeat;
  Rank from = kNoRank;
  /// Epochs of the sender's and of the receiver's side of this edge. A frame of another epoch
  /// belongs to a connection that no longer exists and is dropped.
  std::uint32_t sender_epoch = 0;
  std::uint32_t receiver_epoch = 0;
  /// Counts the sender's messages: state, step and calm of one that was overtaken are old.
  std::uint64_t said = 0;
  WorkerState state = WorkerState::kJoining;
  std::uint64_t step = 0;
  std::uint32_t calm = 0;      ///< see Engine::calm()
  std::uint64_t settled = 0;   ///< highest of my own offers settled: your replies up to it may go
  std::uint64_t sequence = 0;  ///< of the offer, for kOffer and kReply
  std::uint64_t round = 0;     ///< for kPull and kSnapshot
  std::uint32_t bucket = 0;
  bool ahead = false;        ///< for kOffer: it shows the step whose boundary is to come
  std::uint8_t divisor = 0;  ///< for kReply: beta = 1 / divisor
  ReplyStatus status = ReplyStatus::kDelta;
  CodecNumber codec = kExact;  ///< of this payload
  Hello hello;                         ///< kHello only
  std::string text;                    ///< kRefusal only
  Payload payload;
};

}  // namespace stencil
