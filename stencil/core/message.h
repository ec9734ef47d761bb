#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "stencil/core/codec_spec.h"
#include "stencil/core/frame.h"
#include "stencil/core/states.h"
#include "stencil/core/terms.h"
#include "stencil/core/types.h"

namespace stencil {

/// Raised when the meaning of any message changes.
inline constexpr std::uint32_t kProtocolVersion = 6;

/// Of one start of a worker's program: drawn at random (128 bits), so no two are alike.
struct LifeId {
  std::uint64_t high = 0, low = 0;
  friend bool operator==(const LifeId&, const LifeId&) = default;
};

/// What every message says of its sender, whatever it is about. Value type.
struct MessageHeader {
  Rank from = kNoRank;
  /// Epochs of the sender's and of the receiver's side of this edge. A frame of another epoch
  /// belongs to a connection that no longer exists and is dropped.
  std::uint32_t sender_epoch = 0;
  std::uint32_t receiver_epoch = 0;
  /// Counts the sender's messages from 1: state, step and calm of one that was overtaken are old.
  /// 0: not stamped yet.
  std::uint64_t said = 0;
  WorkerState state = WorkerState::kJoining;
  std::uint64_t step = 0;
  std::uint32_t calm = 0;     ///< see Ending::calm()
  std::uint64_t settled = 0;  ///< highest of my own offers settled: your replies up to it may go
};

/// Who I am and where our sequence numbers stand; opens a link. Said once per link, by both ends.
struct Hello {
  std::uint32_t protocol = kProtocolVersion;
  std::string run_id;
  std::string topology;
  std::uint64_t generation = 0;  ///< of two lives of a worker the later has the higher one
  std::uint64_t layout_hash = 0;
  std::uint64_t initial_hash = 0;  ///< of the initial weights
  std::string mode;                ///< "async", "bounded:K", "sync"
  CodecSpec codec{};
  std::uint64_t last_answered = 0;  ///< highest of your offers that I have answered
  std::uint64_t last_settled = 0;   ///< highest of my offers that I have settled
  std::string meeting{};            ///< the way to my shared memory, see Meeting::token(); or empty
  /// How far my model has come: steps that a worker has made, in the mean over all, as gossip
  /// tells; 0 for the first few.
  double progress = 0;
  LifeId life{};                  ///< who says this
  std::string host{};             ///< where it runs, for messages
  std::vector<TermHash> terms{};  ///< what else both must have in common
};

/// "I do not know this link: say Hello."
struct HelloRequest {
  std::uint64_t known = 0;  ///< I know this generation of you: greet me with a higher one; 0: any
};

/// No exchange is possible.
struct Refusal {
  std::string text;     ///< why, naming both sides' values
  std::string term{};   ///< the term that differs; then the text is my value of it
  bool answer = false;  ///< of a refusal of yours: to be heard and not answered
  bool taken = false;   ///< another living process has your rank
};

/// My z of `bucket`.
struct Offer {
  std::uint64_t sequence = 0;
  std::uint32_t bucket = 0;
  bool ahead = false;          ///< it shows the step whose boundary is to come
  CodecNumber codec = kExact;  ///< of the payload
  Payload payload{};           ///< none where it cannot be read just now
};

enum class ReplyStatus : std::uint8_t {
  kDelta,     ///< payload holds d; the answerer has added it
  kBusy,      ///< d = 0: bucket has answered enough for now, or a budget is used up
  kFrozen,    ///< d = 0: the answerer has finished
  kRejected,  ///< d = 0: the offer was not finite
};

/// The answer to your offer `sequence`.
struct Reply {
  std::uint64_t sequence = 0;
  std::uint32_t bucket = 0;
  std::uint8_t divisor = 0;  ///< beta = 1 / divisor
  ReplyStatus status = ReplyStatus::kDelta;
  CodecNumber codec = kExact;
  Payload payload{};  ///< the delta, or none (see ReplyStatus)
};

/// Asks for `bucket` as it stands (round 0) or as of lock-step round `round`.
struct Pull {
  std::uint32_t bucket = 0;
  std::uint64_t round = 0;
};

/// The answer to a pull: the values, no delta involved.
struct Snapshot {
  std::uint32_t bucket = 0;
  std::uint64_t round = 0;
  CodecNumber codec = kExact;
  Payload payload{};
};

struct Heartbeat {};

/// Good-bye: I will send nothing more.
struct Leave {};

/// The place in this list is the kind of message on the wire.
using MessageBody =
    std::variant<Hello, HelloRequest, Refusal, Offer, Reply, Pull, Snapshot, Heartbeat, Leave>;

/// One message between neighbours, as the engine sees it. Value type.
struct Message {
  MessageHeader header;
  MessageBody body = Heartbeat{};

  template <typename Body>
  [[nodiscard]] bool is() const {
    return std::holds_alternative<Body>(body);
  }
  /// Null where it is about something else.
  template <typename Body>
  [[nodiscard]] const Body* as() const {
    return std::get_if<Body>(&body);
  }
};

/// Of an offer, a reply or a snapshot; null where there is none.
[[nodiscard]] inline Payload payload_of(const Message& message) {
  return std::visit(
      [](const auto& body) -> Payload {
        if constexpr (requires { body.payload; }) return body.payload;
        return {};
      },
      message.body);
}

}  // namespace stencil
