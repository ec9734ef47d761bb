#pragma once

#include <cstdint>

#include "stencil/engine/puller.h"
#include "stencil/engine/self.h"

namespace stencil {

/// How a worker begins. Keeps true:
///
///  1. A newcomer copies an established neighbour, whole; where all neighbours are newcomers too,
///     all begin with the weights that they have.
///  2. It waits a moment for neighbours that have not spoken yet, and for none where all have left.
///  3. Where the copy breaks off, what came of it is discarded: the worker goes on looking, or
///     begins with its own model (give_up()).
///  4. Who has steps behind it, in this life or before, copies only a neighbour that it is far
///     behind (EngineConfig::far_behind()); and does so whenever such a one comes into reach.
///
/// One thread.
class Joining {
 public:
  Joining(Self& self, Puller& puller)
      : self_(self), puller_(puller), own_initial_hash_(self.config.hello.initial_hash) {}

  /// An edge is synchronised.
  void on_synchronised(TimePoint now);
  /// This worker trains, and its model is far behind the neighbour's.
  [[nodiscard]] bool behind(const Neighbour& neighbour) const {
    return self_.training() && far_behind(neighbour);
  }
  /// A newcomer again, whatever it has trained.
  void start_over();
  /// Looks whether the worker may begin, or whom to copy; after every input.
  void consider(TimePoint now, Actions& out);
  /// A snapshot for a newcomer, which was asked for. True when it was the last.
  [[nodiscard]] bool on_snapshot(const Neighbour& neighbour, const Snapshot& snapshot,
                                 Actions& out);
  /// No neighbour with a model to copy was found in time, or none that could be copied to the end:
  /// go on with the own one.
  void give_up(TimePoint now, Actions& out);
  /// When consider() wants to be called at the latest.
  [[nodiscard]] TimePoint next() const;

  /// Where the model came from when joining ended: a neighbour's rank, or kNoRank for the own one.
  [[nodiscard]] Rank joined_from() const { return joined_from_; }
  /// How often a neighbour's model was taken over.
  [[nodiscard]] std::uint64_t adopted() const { return adopted_; }
  /// Buckets of a neighbour's model that have come so far.
  [[nodiscard]] std::uint64_t copied() const { return copied_; }

 private:
  void begin_with(Rank from, Actions& out);
  [[nodiscard]] bool far_behind(const Neighbour& neighbour) const {
    return self_.config.far_behind(self_.config.hello.progress, neighbour.life.progress);
  }

  Self& self_;
  Puller& puller_;
  std::uint64_t own_initial_hash_;  ///< what hello says unless another's model was taken over
  TimePoint first_heard_ = kNever;
  Rank joined_from_ = kNoRank;
  Rank copying_from_ = kNoRank;  ///< whoever's buckets came last
  std::uint64_t copied_ = 0, adopted_ = 0;
};

}  // namespace stencil
