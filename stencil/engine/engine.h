#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stencil/engine/asking.h"
#include "stencil/engine/bound.h"
#include "stencil/engine/ending.h"
#include "stencil/engine/handshake.h"
#include "stencil/engine/input.h"
#include "stencil/engine/joining.h"
#include "stencil/engine/liveness.h"
#include "stencil/engine/offer_exchange.h"
#include "stencil/engine/puller.h"
#include "stencil/engine/rounds.h"
#include "stencil/engine/same_grid.h"
#include "stencil/engine/self.h"
#include "stencil/engine/shared_exchange.h"
#include "stencil/engine/sweeps.h"
#include "stencil/engine/turn_keeper.h"

namespace stencil {

/// The exchange protocol of one worker as a pure state machine: (now, input) -> actions. No I/O, no
/// clock, no thread, no floats; a payload is an opaque counted handle. Every on_* appends actions
/// to `out`; the caller carries them out in order before the next input. What it finds out while it
/// does is an input, too (on_offer_made(), on_answered(), on_share()): its actions are carried out
/// before the next of the input before. One thread.
///
/// Each question has a part of its own, whose header lists its invariants:
///
///     Handshake       who is at the other end, and where sequence numbers stand
///     Liveness        whether a neighbour is alive, and whether its replies come
///     OfferExchange   offers, answers, crossings
///     SharedExchange  the same in shared memory
///     TurnKeeper      when a worker may offer, and when it holds others' offers
///     Asking          whom it asks
///     Bound           mode bounded
///     Joining         how a worker begins, and copies of its model for newcomers
///     Rounds          mode sync
///     Ending          when all may stop
///     SameGrid        whether neighbours have made the same changes of the grid
class Engine {
 public:
  /// Fills `neighbours`, which must outlive this, with those of `config`.
  Engine(EngineConfig config, Neighbours& neighbours, TimePoint now);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// All inputs are seen by `witness`, which must outlive this. `now` is the time of the making.
  void show(TimePoint now, Witness& witness) {
    witness_ = &witness;
    witness.began(now, *this);
  }

  // Neighbours come and go. Not in mode sync.
  void add(TimePoint now, const Place& place);
  /// Begins no more exchanges with it. Once retired() is true, everything in flight is complete, or
  /// the neighbour is not there to complete it: call leave(), then remove().
  void retire(TimePoint now, Rank rank, Actions& out);
  [[nodiscard]] bool retired(const Neighbour& neighbour) const;
  void say_good_bye(TimePoint now, Rank rank, Actions& out, Leave how = {});
  /// What is still in flight with it is lost, and counted.
  void remove(TimePoint now, Rank rank, Actions& out);
  /// The grid has changed, here or elsewhere.
  void on_grid(TimePoint now, const GridFigures& grid, Actions& out);

  // Inputs.
  /// A connection can carry frames now (a new or restored one), or no longer can.
  void on_link_up(TimePoint now, Rank rank, Actions& out);
  void on_link_down(TimePoint now, Rank rank, Actions& out);
  /// Requires that `rank` is at the other end of the link that `message` came by.
  void on_message(TimePoint now, Rank rank, const Message& message, Actions& out);
  /// Buckets from `from` on already hold the step in progress. Sweeps of its boundary may begin
  /// with these; the rest follows at on_boundary().
  void on_made(TimePoint now, std::uint32_t from, Actions& out);
  /// The training thread passed a step boundary; `step` counts them from 1.
  void on_boundary(TimePoint now, std::uint64_t step, Actions& out);
  /// What the training thread waits for at its boundary. Turns are kept while it waits, and in the
  /// next step once a part of that step is ready: see TurnKeeper.
  void on_pause(TimePoint now, Pause pause, Actions& out);
  /// Lock step: y of `round` (from 1) may be pulled.
  void on_published(TimePoint now, std::uint64_t round, Actions& out);
  void on_state(TimePoint now, WorkerState state, Actions& out);
  /// How far the model has come, see Hello::progress.
  void on_progress(double steps);
  /// The hash of this worker's first batch, which neighbours are told. See Heartbeat.
  void on_first_batch(TimePoint now, std::uint64_t hash, Actions& out);
  /// See Joining::give_up().
  void give_up_joining(TimePoint now, Actions& out);
  void on_tick(TimePoint now, Actions& out);
  /// The neighbour's shared memory is mapped, or no longer is.
  void on_sharing(TimePoint now, Rank rank, bool shared, Actions& out);
  /// Appends the next few Share. Carry out each at once and report it to on_share().
  void take_shares(TimePoint now, Actions& out);
  void on_share(TimePoint now, Rank rank, std::uint32_t bucket, ShareResult result, Actions& out);
  /// MakeOffer was carried out: it is sent.
  void on_offer_made(Rank rank, std::uint64_t sequence, const MadeOffer& made, Actions& out);
  /// Answer was carried out: `reply` is kept and sent. It declines where the offer could not be
  /// mixed after all.
  void on_answered(Rank rank, const Reply& reply, Actions& out);
  /// HashStart was carried out for all pieces of the neighbour's initial weights.
  void on_start_hashed(Rank rank, std::uint64_t hash, Actions& out);

  /// When take_shares() has some; kNever where that needs another input first.
  [[nodiscard]] TimePoint next_share() { return sharing_.next(); }
  /// When on_tick() must be called at the latest.
  [[nodiscard]] TimePoint next_deadline() const;
  /// Appends the buckets whose requests were closed without an action since this was last called.
  void take_closed(std::vector<std::uint32_t>& out) { exchange_.take_closed(out); }
  /// Appends the neighbours with whom all that was in flight is lost, since this was last called:
  /// what still waits to be sent to them is void, and so is what gave access to their memory.
  void take_lost(std::vector<Rank>& out) { exchange_.take_lost(out); }

  /// A message of ours; `to` is kNoRank for a receiver that is not a neighbour.
  [[nodiscard]] Message message(Rank to, MessageBody body);
  /// Updates the header of a message that is sent later than it was made, or again.
  void stamp(MessageHeader& header, Rank to);

  // Questions.
  [[nodiscard]] const EngineConfig& config() const { return self_.config; }
  [[nodiscard]] const EngineCounters& counters() const { return self_.counters; }
  [[nodiscard]] WorkerState state() const { return self_.state; }
  [[nodiscard]] std::uint64_t step() const { return self_.step(); }
  [[nodiscard]] const Steps& steps() const { return self_.steps; }
  [[nodiscard]] const Neighbours& neighbours() const { return self_.neighbours; }
  /// Whether a request of ours is open on this bucket.
  [[nodiscard]] bool is_open(std::uint32_t bucket) const {
    return sweeps_.buckets().is_open(bucket);
  }
  /// See Handshake::taken().
  [[nodiscard]] std::optional<Refusal> taken(TimePoint now, const Neighbour& neighbour,
                                             const Hello& hello) const {
    return handshake_.taken(now, neighbour, hello);
  }
  [[nodiscard]] const TurnKeeper& turns() const { return turns_; }
  [[nodiscard]] const OfferExchange& exchange() const { return exchange_; }
  [[nodiscard]] const Bound& bound() const { return bound_; }
  [[nodiscard]] const Joining& joining() const { return joining_; }
  [[nodiscard]] const Rounds& rounds() const { return rounds_; }
  [[nodiscard]] const Ending& ending() const { return ending_; }

  /// All that a decision may depend on beside the configuration and the neighbours' places, taken
  /// apart by `a`, which writes or reads it (see runtime/journal_fields.h): an engine that is made
  /// with the same two and then reads it decides as this one. Each part names its own.
  template <typename A, typename T>
  static void fields(A& a, T& v) {
    for (auto& neighbour : v.self_.neighbours) a(neighbour);
    a(v.self_, v.sweeps_, v.turns_, v.exchange_, v.asking_, v.puller_, v.joining_, v.rounds_,
      v.told_at_, v.seen_);
  }

 private:
  template <typename Describe>
  class Shown;
  void add_neighbour(TimePoint now, const Place& place);
  [[nodiscard]] bool on_greeting(TimePoint now, Neighbour& neighbour, const Message& message,
                                 Actions& out);
  void handle(TimePoint now, Neighbour& neighbour, const Message& message, Actions& out);
  void follow(TimePoint now, Neighbour& neighbour, const MessageHeader& header, Actions& out);
  void start_over(TimePoint now, Actions& out);
  void tell_of_progress(TimePoint now, Actions& out);
  void on_snapshot(TimePoint now, Neighbour& neighbour, const Snapshot& snapshot, Actions& out);
  /// Does what may be done now; called after each input.
  void issue(TimePoint now, Actions& out);

  Self self_;
  SweepBook sweeps_;
  TurnKeeper turns_;
  OfferExchange exchange_;
  SharedExchange sharing_;
  Bound bound_;
  Asking asking_;
  Handshake handshake_;
  Liveness liveness_;
  Puller puller_;
  Joining joining_;
  Rounds rounds_;
  Ending ending_;
  SameGrid same_grid_;
  TimePoint told_at_{};  ///< when neighbours were last told of a boundary
  Witness* witness_ = nullptr;
  TimePoint seen_{};  ///< of the last input that the witness saw
};

}  // namespace stencil
