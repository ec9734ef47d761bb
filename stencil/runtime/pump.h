#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stencil/core/mixing_weights.h"
#include "stencil/core/payload_pool.h"
#include "stencil/core/types.h"
#include "stencil/engine/engine.h"
#include "stencil/mix/codecs/dense.h"
#include "stencil/mix/mixer.h"
#include "stencil/runtime/link_book.h"
#include "stencil/runtime/settlement.h"
#include "stencil/shared/meeting.h"
#include "stencil/transport/transport.h"

namespace stencil {

/// What the training thread has done and wants, handed to the pump at each turn.
struct Standing {
  static constexpr std::uint32_t kNoBucket = UINT32_MAX;
  std::uint64_t step = 0;                       ///< boundaries passed
  Pause pause = Pause::kNone;                   ///< what it waits for at the last one
  std::uint32_t made_from = kNoBucket;          ///< the next step has been made from there on
  std::uint64_t round = 0;                      ///< lock-step: rounds published
  WorkerState wanted = WorkerState::kTraining;  ///< kTraining, kSettling or kFrozen
  bool stop_joining = false;                    ///< waited long enough for a neighbour: begin alone
  bool leave = false;                           ///< say good-bye
};

struct PumpOptions {
  EngineConfig engine;
  double settle_threshold = 1e-3;  ///< see settle_threshold()
};

/// One neighbour, for display and for waits that must name it.
struct NeighbourStatus {
  Rank rank = kNoRank;
  LinkState link = LinkState::kConnecting;
  WorkerState state = WorkerState::kJoining;
  std::uint64_t step = 0, sweeps = 0, bytes_sent = 0;
  bool shared = false;             ///< the model is exchanged in shared memory
  std::uint64_t bytes_shared = 0;  ///< of the model, averaged by us in shared memory
  Duration round_trip{};
  TimePoint swept{};  ///< meaningful when sweeps > 0
};

/// Counts of what the pump itself saw, beside the engine's. Monotonic.
struct PumpCounters {
  std::uint64_t malformed = 0, checksum = 0, payload_size = 0, non_finite = 0;
  std::uint64_t unknown_senders = 0, frames_dropped = 0, resent = 0, own_non_finite = 0;
  std::uint64_t bytes_shared = 0;     ///< averaged in shared memory, by us
  std::uint64_t put_off = 0;          ///< what waited for a bucket that another process held
  std::uint64_t inherited_locks = 0;  ///< taken over from a process that died holding them
};

struct PumpStatus {
  WorkerState state = WorkerState::kJoining;
  bool joined = false;
  Rank joined_from = kNoRank;
  std::uint64_t copied = 0;  ///< buckets of a neighbour's model that have come, while joining
  bool may_freeze = false;   ///< all workers are settled, as far as word has come
  bool flushed = false;      ///< nothing of ours is open, nothing of theirs unsettled
  std::uint64_t completed_round = 0;
  bool neighbours_completed = true;  ///< all have completed our last round
  Engine::Limit limit;
  double relative_distance = 0;
  std::size_t payloads = 0;  ///< the most buckets that were under way or kept at once
  std::string refused;       ///< why a neighbour and we do not match; empty: all well
  EngineCounters engine;
  PumpCounters pump;
  TransportStats transport;
  std::vector<NeighbourStatus> neighbours;
};

/// Joins the protocol (Engine), the arithmetic (Mixer) and the network (Transport): the one way in
/// which a worker's background work is done, be it called by a thread or by the simulator. Has
/// itself neither thread nor clock. Mixer, transport and meeting must outlive it.
class Pump {
 public:
  /// Without a `meeting` all goes over the transport; with one, the mixer's segment is shared.
  Pump(PumpOptions options, Mixer& mixer, Transport& transport, Resolver resolver, LogSink log,
       TimePoint now, Meeting* meeting = nullptr);

  /// Does all that can be done at `now`: takes what arrived, acts, sends. Returns when to be called
  /// again at the latest; earlier when a frame arrives or the standing changes.
  TimePoint turn(TimePoint now, const Standing& standing);

  /// As it is now. Overwritten in place by the next call, so that asking often allocates nothing.
  [[nodiscard]] const PumpStatus& status();
  [[nodiscard]] const Engine& engine() const { return engine_; }

  /// For accounts of what is in flight (tests, simulator): each reply or crossed offer that the
  /// neighbour has not settled yet, as it would be resent.
  struct InFlight {
    Rank to = kNoRank;
    std::uint64_t sequence = 0;  ///< of their offer
    std::uint32_t bucket = 0;
    CodecNumber codec = kExact;
    std::uint8_t divisor = 0;
    bool crossed = false;  ///< payload is our offer, not a delta
    Payload payload;
  };
  [[nodiscard]] std::vector<InFlight> unsettled_at(Rank neighbour) const;
  /// Our offer as it was sent, while it is open; without a payload otherwise.
  struct Open {
    CodecNumber codec = kExact;
    Payload payload;
  };
  [[nodiscard]] Open open_offer(Rank neighbour, std::uint64_t sequence) const;

 private:
  struct Sent {  ///< an offer of ours, while open
    std::uint64_t sequence = 0;
    std::uint32_t bucket = 0;
    CodecNumber codec = kExact;
    Payload payload;
    /// Made after our last step, so it shows the model that is to be agreed on.
    bool finishing = false;
    double norm2 = 0;  ///< |z|^2 of the bucket, where it was at hand
  };
  struct Kept {                  ///< an answer of ours, until settled
    std::uint64_t sequence;      ///< of their offer
    std::uint64_t own_sequence;  ///< crossed: of ours
    Message message;             ///< kReply, or kOffer where crossed
  };
  struct Side {
    Rank rank = kNoRank;
    std::vector<Sent> sent;
    std::vector<Kept> kept;
    /// Refused by a full link. Offers and replies are bounded by the windows; of the rest, which
    /// is asked for or said again, see kMostWaiting.
    std::vector<Frame> backlog;
    std::vector<Message> held;  ///< offers of theirs that wait for their turn
    std::uint64_t bytes_sent = 0;
    std::uint64_t bytes_shared = 0;
    std::uint32_t slot = 0;  ///< our place among their neighbours
    std::string meeting;     ///< their latest token
    std::unique_ptr<EdgeCodec> codec;
  };
  /// Something to be done to a bucket; kept while another process holds it.
  struct Owed {
    Action::Kind kind;
    Rank rank;
    std::uint32_t bucket;
    std::uint64_t round;  ///< of a pull
    Message message;      ///< what it is about; none for a pull
    Sent ours;            ///< the offer of ours that `message` answers or crosses
  };

  void receive(TimePoint now, Received&& received);
  /// A bounded number of what has come. True where there may be more.
  bool receive_some(TimePoint now);
  void receive_message(TimePoint now, LinkId link, Message&& message);
  void receive_stranger(TimePoint now, LinkId link, const Message& message);
  void apply_standing(TimePoint now, const Standing& standing);
  void act(const Message* in_hand);
  void act_on(Action& action, const Message* in_hand);
  /// Memory for the message's bucket in its code, to be written before it is sent.
  std::span<std::byte> give_payload(Message& message, std::size_t bytes);
  void make_offer(Side& side, const Action& action);
  /// Their offer that an action is about: the message in hand, or one that was held.
  Message offer_of(Side& side, const Action& action, const Message* in_hand);
  void answer(Side& side, const Action& action, const Message& offer);
  void decline(Side& side, const Action& action, ReplyStatus status);
  void merge(Side& side, const Action& action, const Message& offer);
  void settle(Side& side, const Action& action, const Message& reply);
  void resend(Side& side, const Action& action);
  void apply_or_owe(Owed&& owed);
  bool apply(const Owed& owed);
  MixReport settle_now(const Owed& owed);
  MixReport merge_now(const Owed& owed);
  bool serve(Side& side, const Owed& pull);
  /// Counts and logs why what `rank` sent was not applied.
  void reject(Rank rank, const MixReport& report, const char* cause, const std::string& what);
  void make_up();
  void close(std::uint32_t bucket);
  void meet(TimePoint now);
  void share(TimePoint now);
  void read_notes();
  void transmit(Side& side, const Message& message);
  void flush(Side& side);
  void link_down(TimePoint now, LinkId link);
  void refuse(const std::string& text);
  void update_settling(TimePoint now);
  /// How such a message to or from `side` is coded: `exact`ly, or as the run's codec has it.
  [[nodiscard]] CodedForm form(MessageKind kind, const Side& side, std::uint32_t bucket,
                               bool exact) const;
  /// Whether a payload has the size of what it says it is.
  [[nodiscard]] bool expected_size(const Message& message);
  /// The coding of an offer and of the reply to it.
  [[nodiscard]] EdgeCodec& coding(Side& side, bool exact);
  [[nodiscard]] bool finishing() const;
  /// Does what they show us with `message`, in answer to `offer` of ours where it is one, tell how
  /// far apart we are? While training always, roughly (of a part that they show, a lower bound);
  /// then only without a step to come, and of the whole bucket.
  [[nodiscard]] bool telling(const Message& message, const Sent* offer) const;
  Side& side(Rank rank);
  void complain(Rank rank, const std::string& cause, const std::string& text);

  Mixer& mixer_;
  Transport& transport_;
  Meeting* meeting_;
  LogSink log_;
  Engine engine_;
  LinkBook links_;
  Settlement settlement_;
  MixingWeights weights_;
  DenseEdgeCodec exact_;
  std::unique_ptr<const Codec> pulled_;  ///< how whole models are pulled in lock step
  CodecNumber pulled_as_;
  std::vector<Side> sides_;
  Actions actions_;
  PayloadPool<BucketMemory> payloads_;
  std::size_t largest_payload_ = 0;
  Actions shares_;
  std::vector<Owed> owed_;  ///< at most one for each open request and pull
  std::uint64_t notes_read_ = 0;
  PumpCounters counters_;
  PumpStatus status_;  ///< as last asked for
  std::set<std::pair<Rank, std::string>> complained_;
  std::string refused_;
  std::uint64_t published_ = 0;
  bool left_ = false;
};

}  // namespace stencil
