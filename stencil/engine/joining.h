#pragma once

#include <cstdint>

#include "stencil/engine/puller.h"
#include "stencil/engine/self.h"

namespace stencil {

/// How a worker begins. Invariants:
///
///  1. A newcomer copies the whole model of an established neighbour. Where all neighbours are
///     newcomers too, all begin with the weights that they have.
///  2. It waits a moment for neighbours that have sent nothing yet, and for none where all have
///     left.
///  3. Where the copy breaks off, the copied part is discarded. The worker keeps looking, or begins
///     with its own model (give_up()).
///  4. A worker that has trained, in this life or before, copies only a neighbour that it is far
///     behind (EngineConfig::far_behind()), and does so whenever it meets such a neighbour.
///
/// One thread.
class Joining {
 public:
  Joining(Self& self, Puller& puller)
      : self_(self), puller_(puller), own_initial_hash_(self.config.hello.initial_hash) {}

  /// An edge was synchronised.
  void on_synchronised(TimePoint now);
  /// Whether this worker trains and its model is far behind the neighbour's.
  [[nodiscard]] bool behind(const Neighbour& neighbour) const {
    return self_.training() && far_behind(neighbour);
  }
  /// Makes the worker a newcomer again, whatever it has trained.
  void start_over();
  /// Decides whether the worker may begin, or whom it copies. Call it after every input.
  void consider(TimePoint now, Actions& out);
  /// A snapshot that this newcomer asked for. Returns true when it was the last.
  [[nodiscard]] bool on_snapshot(const Neighbour& neighbour, const Snapshot& snapshot,
                                 Actions& out);
  /// Goes on with the own model, since no neighbour's model could be copied in time.
  void give_up(TimePoint now, Actions& out);
  /// When consider() must be called at the latest.
  [[nodiscard]] TimePoint next() const;

  /// The source of the model when joining ended: a neighbour's rank, or kNoRank for the own model.
  [[nodiscard]] Rank joined_from() const { return joined_from_; }
  /// How often a neighbour's model was adopted.
  [[nodiscard]] std::uint64_t adopted() const { return adopted_; }
  /// Buckets of a neighbour's model received so far.
  [[nodiscard]] std::uint64_t copied() const { return copied_; }

 private:
  void begin_with(Rank from, Actions& out);
  [[nodiscard]] bool far_behind(const Neighbour& neighbour) const {
    return self_.config.far_behind(self_.config.hello.progress, neighbour.life.progress);
  }

  Self& self_;
  Puller& puller_;
  std::uint64_t own_initial_hash_;  ///< in our Hello unless a neighbour's model was adopted
  TimePoint first_heard_ = kNever;
  Rank joined_from_ = kNoRank;
  Rank copying_from_ = kNoRank;  ///< the neighbour whose buckets came last
  std::uint64_t copied_ = 0, adopted_ = 0;
};

}  // namespace stencil
