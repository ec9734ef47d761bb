#pragma once

#include <compare>
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
inline constexpr std::uint32_t kProtocolVersion = 9;

/// Names one start of a worker's program: 128 random bits, so that no two starts share it.
struct LifeId {
  std::uint64_t high = 0, low = 0;
  friend bool operator==(const LifeId&, const LifeId&) = default;
};

/// Whose initial weights a worker holds: the rank that they began at, and their hash. Of two that
/// differ in the hash, the lower is preferred. kNoRank, which is below all: a model that was
/// trained before. Value type.
struct Origin {
  Rank rank = kNoRank;
  std::uint64_t hash = 0;
  friend auto operator<=>(const Origin&, const Origin&) = default;
};

/// What every message says of its sender, whatever it is about. Value type.
struct MessageHeader {
  Rank from = kNoRank;
  /// Epochs of the sender's and of the receiver's side of this edge. A frame of another epoch
  /// belongs to a connection that no longer exists and is dropped.
  std::uint32_t sender_epoch = 0;
  std::uint32_t receiver_epoch = 0;
  /// Counts the sender's messages from 1. The receiver ignores state, step and settled_hops of a
  /// message that a later one has overtaken. 0: not stamped yet.
  std::uint64_t number = 0;
  WorkerState state = WorkerState::kJoining;
  std::uint64_t step = 0;
  std::uint32_t settled_hops = 0;  ///< see Ending::settled_hops()
  std::uint64_t completed = 0;     ///< up to which of my offers your replies are applied: drop them
};

/// Who I am and where our sequence numbers stand; opens a link. Both ends send it once per link.
struct Hello {
  std::uint32_t protocol = kProtocolVersion;
  std::string run_id;
  std::string topology;
  std::uint64_t generation = 0;  ///< the later of two lives of a worker has the higher one
  std::uint64_t layout_hash = 0;
  std::uint64_t initial_hash = 0;  ///< of the initial weights
  Rank initial_rank = kNoRank;     ///< see Origin
  std::string mode;                ///< "async", "bounded:K", "sync"
  CodecSpec codec{};
  std::uint64_t last_answered = 0;   ///< highest of your offers that I have answered
  std::uint64_t last_completed = 0;  ///< highest of my offers that are complete
  std::string meeting{};  ///< the way to my shared memory, see Meeting::token(); or empty
  /// How far my model has come: steps that a worker has made, in the mean over all, as gossip
  /// tells; 0 for the first few.
  double progress = 0;
  LifeId life{};                  ///< of the sender
  std::string host{};             ///< where it runs, for messages
  std::vector<TermHash> terms{};  ///< what else both must have in common

  [[nodiscard]] Origin initial() const { return {initial_rank, initial_hash}; }
};

/// "I do not know this link: say Hello."
struct HelloRequest {
  std::uint64_t known = 0;  ///< I know this generation of you: greet me with a higher one; 0: any
};

/// No exchange is possible.
struct Refusal {
  std::string text;     ///< why, naming both sides' values
  std::string term{};   ///< the term that differs; then the text is my value of it
  bool answer = false;  ///< answers a refusal of yours; do not answer it again
  bool taken = false;   ///< another living process has your rank
  std::string marks{};  ///< of my model's arrays (ArrayList), where models may differ
};

/// My z of `bucket`.
struct Offer {
  std::uint64_t sequence = 0;
  std::uint32_t bucket = 0;
  bool ahead = false;          ///< it already shows the step in progress
  CodecNumber codec = kExact;  ///< of the payload
  Payload payload{};           ///< null where the bucket cannot be read at the moment
};

enum class ReplyStatus : std::uint8_t {
  kDelta,     ///< payload holds d; the answerer has added it
  kBusy,      ///< d = 0: the bucket has answered enough for now, or a budget is used up
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

struct Heartbeat {
  std::uint64_t first_batch = 0;  ///< a hash of the sender's first batch; 0: not known
  /// Grid::hash() of the sender's, where its grid or the receiver's has changed; 0: not known.
  std::uint64_t grid = 0;
};

/// Good-bye: I will send nothing more.
struct Leave {
  bool paused = false;  ///< I intend to come back
};

/// A message's index in this list is its kind on the wire.
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
  /// Null where the body is of another kind.
  template <typename Body>
  [[nodiscard]] const Body* as() const {
    return std::get_if<Body>(&body);
  }
};

/// The payload of an offer, a reply or a snapshot; null where there is none.
[[nodiscard]] inline Payload payload_of(const Message& message) {
  return std::visit(
      [](const auto& body) -> Payload {
        if constexpr (requires { body.payload; }) return body.payload;
        return {};
      },
      message.body);
}

}  // namespace stencil
