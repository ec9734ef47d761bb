#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stencil/core/message.h"
#include "stencil/core/random.h"
#include "stencil/engine/action.h"
#include "stencil/engine/config.h"
#include "stencil/engine/edge.h"
#include "stencil/engine/rounds.h"
#include "stencil/engine/sweeps.h"

namespace stencil {

/// What happened at this worker's edges, for logs and the summary. Monotonic.
struct EngineCounters {
  std::uint64_t sweeps = 0, offers = 0, answers = 0, merges = 0, declined = 0;
  std::uint64_t withdrawn = 0;       ///< offers that never arrived
  std::uint64_t lost_in_flight = 0;  ///< offers and replies that died with a neighbour
  std::uint64_t resynchronised = 0;  ///< times an edge was begun anew
  std::uint64_t stale_frames = 0;    ///< of an epoch that is over
  std::uint64_t duplicates = 0;      ///< offers or replies seen before
  std::uint64_t gaps = 0;            ///< sequence numbers that jumped
  std::uint64_t refusals = 0;
  std::uint64_t suspected = 0, gone = 0, returned = 0;
  std::uint64_t shares = 0;           ///< buckets averaged in shared memory
  std::uint64_t shares_declined = 0;  ///< its owner is asking for it itself, or takes no part
  std::uint64_t held = 0;             ///< times one was found held by another process
  std::uint64_t skipped = 0;          ///< left out of a sweep for that
  std::uint64_t violations = 0;       ///< what no worker of ours would send; not acted on
};

/// The exchange protocol of one worker as a pure state machine: (now, input) -> actions. No I/O, no
/// clock, no thread, no floats, no payloads. Every on_* appends to `out` what is to be done, in
/// order. One thread.
class Engine {
 public:
  Engine(EngineConfig config, TimePoint now);

  // Inputs.
  /// A connection to `rank` can carry frames now (a new or restored one), or no longer can.
  void on_link_up(TimePoint now, Rank rank, Actions& out);
  void on_link_down(TimePoint now, Rank rank, Actions& out);
  /// `message.from` has been checked to be the neighbour at the other end of the link.
  void on_message(TimePoint now, const Message& message, Actions& out);
  /// The step under way has been made in buckets `from` on: sweeps of its boundary may begin, with
  /// these alone until on_boundary() tells of the rest.
  void on_made(TimePoint now, std::uint32_t from, Actions& out);
  /// The training thread passed a step boundary; `step` counts them from 1.
  void on_boundary(TimePoint now, std::uint64_t step, Actions& out);
  /// What the training thread waits for at its boundary. While it does, and in the next step once
  /// a part of that is made, turns are kept: see must_hold().
  void on_pause(TimePoint now, Pause pause, Actions& out);
  /// Lock-step: y of `round` (from 1) stands ready to be pulled.
  void on_published(TimePoint now, std::uint64_t round, Actions& out);
  void on_state(TimePoint now, WorkerState state, Actions& out);
  /// No neighbour with a model to copy was found in time, or none that could be copied to the end:
  /// go on with the own one.
  void give_up_joining(TimePoint now, Actions& out);
  void on_tick(TimePoint now, Actions& out);
  /// The neighbour's memory can be reached, or no longer can.
  void on_sharing(TimePoint now, Rank rank, bool shared, Actions& out);
  /// What came of a kShare.
  void on_share(TimePoint now, Rank rank, std::uint32_t bucket, ShareResult result, Actions& out);
  /// Shared memory: appends the next few kShare, each to be done at once and reported to
  /// on_share(). Few, so that whoever calls hears the network in between.
  void take_shares(TimePoint now, Actions& out);
  /// When take_shares() has some; kNever where only another input can bring one.
  [[nodiscard]] TimePoint next_share() const;
  /// When on_tick() wants to be called at the latest.
  [[nodiscard]] TimePoint next_deadline() const;

  /// A message of ours to `rank`, with the standing filled in.
  [[nodiscard]] Message stamp(MessageKind kind, Rank rank);
  /// The standing of today in a message that is sent again.
  void restamp(Message& message, Rank rank);

  // Questions.
  [[nodiscard]] WorkerState state() const { return state_; }
  [[nodiscard]] std::uint64_t step() const { return steps_.count; }
  [[nodiscard]] Pause pause() const { return pause_; }
  [[nodiscard]] std::span<const Edge> edges() const { return edges_; }
  [[nodiscard]] const Edge* edge(Rank rank) const;
  /// A request of ours is open on this bucket.
  [[nodiscard]] bool is_open(std::uint32_t bucket) const { return buckets_.is_open(bucket); }
  /// The step whose boundary is to come has been made there.
  [[nodiscard]] bool is_ahead(std::uint32_t bucket) const {
    return making() && bucket >= made_from_;
  }
  [[nodiscard]] const EngineCounters& counters() const { return counters_; }
  [[nodiscard]] const EngineConfig& config() const { return config_; }
  /// Where our model came from when joining ended: a neighbour's rank, or kNoRank for our own.
  [[nodiscard]] Rank joined_from() const { return joined_from_; }
  /// Buckets of a neighbour's model that have come so far.
  [[nodiscard]] std::uint64_t copied() const { return copied_; }
  /// 0 while we are not settled, else one more than the least of what our neighbours said: k tells
  /// that all within k - 1 hops were settled, a little while ago. A worker that trains or is not
  /// yet settled keeps it low for everybody, by the distance. Counts to Topology::reach() and one.
  [[nodiscard]] std::uint32_t calm() const { return calm_; }
  /// By calm(), all were settled. Going by one's neighbours alone, workers who agree among
  /// themselves would end before those beyond a slow link have come round.
  [[nodiscard]] bool all_calm() const { return calm_ == all_calm_at(); }
  /// Lock-step: the last round that is complete here; and whether every neighbour has completed it.
  [[nodiscard]] std::uint64_t completed_round() const { return completed_round_; }
  [[nodiscard]] bool neighbours_completed(std::uint64_t round) const;
  /// Bounded: the highest step boundary that may be passed now; and who holds it there.
  struct Limit {
    std::uint64_t step = UINT64_MAX;
    Rank held_by = kNoRank;
  };
  [[nodiscard]] Limit limit() const;
  /// Buckets that sweeps under way have still to bring; and how many that were when those of the
  /// last boundary had begun.
  [[nodiscard]] std::uint64_t unswept() const { return sweeps_.left(); }
  [[nodiscard]] std::uint64_t due() const { return due_; }
  /// Own requests not settled, parked ones of living neighbours included.
  [[nodiscard]] std::size_t open_offers() const;
  /// The same of neighbours that are up: what is worth waiting for.
  [[nodiscard]] std::size_t awaited_offers() const;
  /// True when each neighbour that can still be heard of has settled all our replies.
  [[nodiscard]] bool replies_settled() const;

 private:
  Edge* find(Rank rank);
  void begin(TimePoint now, Edge& edge, Actions& out);
  void send(TimePoint now, Edge& edge, Message message, Actions& out);
  void say_hello(TimePoint now, Edge& edge, Actions& out);
  void heartbeat_all(TimePoint now, Actions& out);
  void update_calm(TimePoint now, Actions& out);
  void reset(Edge& edge, Actions& out);
  void park(Edge& edge, Actions& out);
  void release(Edge& edge, std::uint64_t settled, Actions& out);
  /// False where it says nothing of the neighbour's present life.
  bool on_hello(TimePoint now, Edge& edge, const Message& message, Actions& out);
  void take_counters(Edge& edge, const Hello& hello, Actions& out);
  void on_offer(TimePoint now, Edge& edge, const Message& message, Actions& out);
  void take_offer(TimePoint now, Edge& edge, const HeldOffer& offer, Actions& out);
  [[nodiscard]] bool must_hold(TimePoint now, Edge& edge, const HeldOffer& offer);
  [[nodiscard]] TimePoint held_until(const HeldOffer& offer) const;
  void take_held(TimePoint now, Actions& out);
  void drop_held(Edge& edge, Actions& out);
  void note_met(TimePoint now, Edge& edge, std::uint32_t bucket);
  void on_reply(TimePoint now, Edge& edge, const Message& message, Actions& out);
  void on_pull(TimePoint now, Edge& edge, const Message& message, Actions& out);
  void on_snapshot(TimePoint now, Edge& edge, const Message& message, Actions& out);
  [[nodiscard]] Duration hello_every(const Edge& edge) const;
  void check_edge(TimePoint now, Edge& edge, Actions& out);
  /// When a reply of theirs is taken for lost.
  [[nodiscard]] TimePoint reply_due(const Edge& edge) const;
  void close(TimePoint now, Edge& edge, std::uint64_t sequence);
  void note_held(TimePoint now, Sweep& sweep, std::uint32_t bucket);
  void consider_complete(TimePoint now, Edge& edge, const Sweep& sweep);
  void consider_joining(TimePoint now, Actions& out);
  void joined(Rank from, Actions& out);
  void issue(TimePoint now, Actions& out);
  void issue_pulls(TimePoint now, Actions& out);
  void send_pull(TimePoint now, const PullPlan::Pull& pull, Actions& out);
  void issue_offers(TimePoint now, Edge& edge, Sweep& sweep, Actions& out);
  std::optional<std::uint32_t> next_offer(TimePoint now, const Edge& edge, Sweep& sweep);
  /// It has begun, and is the first of its edge.
  [[nodiscard]] bool asks(const Sweep& sweep) const {
    return sweep.begun && sweeps_.is_first(sweep);
  }
  /// A part of the step under way has been made.
  [[nodiscard]] bool making() const { return sweeps_.earned() > step(); }
  [[nodiscard]] bool in_turns() const;
  /// The step that `sweep` is to bring has been made there.
  [[nodiscard]] bool made(const Sweep& sweep, std::uint32_t bucket) const;
  [[nodiscard]] bool may_share(TimePoint now, const Sweep& sweep) const;
  [[nodiscard]] bool about_to_share(TimePoint now, std::uint32_t bucket) const;
  [[nodiscard]] std::uint32_t telemetry() const { return config_.buckets - 1; }
  Edge* choose(TimePoint now);
  void earn();
  void plan();
  [[nodiscard]] bool may_ask(TimePoint now, const Edge& edge);
  [[nodiscard]] std::size_t retained() const;  ///< answers kept, on all edges
  [[nodiscard]] std::uint32_t all_calm_at() const {
    return static_cast<std::uint32_t>(config_.topology.reach()) + 1;
  }
  [[nodiscard]] bool resting(TimePoint now, const Edge& edge) const;
  [[nodiscard]] bool overdue(const Edge& edge) const;

  EngineConfig config_;
  WorkerState state_ = WorkerState::kJoining;
  Steps steps_;
  Pause pause_ = Pause::kNone;
  bool paused_ = false;          ///< at the last boundary
  std::uint32_t made_from_ = 0;  ///< what sweeps of the newest step may bring
  TimePoint told_{};             ///< of a boundary, last
  std::uint32_t calm_ = 0;
  std::uint64_t said_ = 0;  ///< messages stamped
  std::vector<Edge> edges_;
  BucketBook buckets_;
  SweepBook sweeps_;
  std::uint64_t due_ = 0;   ///< see due()
  std::uint64_t turn_ = 0;  ///< the next one
  PullPlan pulls_;
  Random random_;
  EngineCounters counters_;
  std::uint64_t asks_ = 0;
  TimePoint rest_until_ = kNever;  ///< when a resting neighbour may be asked again
  std::size_t open_total_ = 0;     ///< offers open and not parked
  TimePoint first_heard_ = kNever;
  Rank joined_from_ = kNoRank;
  Rank copying_from_ = kNoRank;  ///< whoever's buckets came last
  std::uint64_t copied_ = 0;
  std::uint64_t own_initial_hash_;  ///< what hello says unless another's model was taken over
  std::uint64_t published_round_ = 0, completed_round_ = 0;
  static constexpr Duration kSettlingPause = std::chrono::milliseconds(100);
  struct ParkedPull {
    Rank rank;
    std::uint32_t bucket;
    std::uint64_t round;
  };
  std::vector<ParkedPull> parked_pulls_;
};

}  // namespace stencil
