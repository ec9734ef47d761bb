#pragma once

#include <cstdint>
#include <vector>

#include "stencil/engine/puller.h"
#include "stencil/engine/self.h"

namespace stencil {

/// Mode sync: rounds in lock step. Invariants:
///
///  1. A pull of a round gets what was published for that round. No round is published before all
///     neighbours have completed the one before, which the caller ensures.
///  2. A round is complete when every bucket of every neighbour has been pulled, in rank order.
///  3. Pulls of a round that is not published yet wait, up to a window of them for each neighbour.
///
/// One thread.
class Rounds {
 public:
  Rounds(Self& self, Puller& puller) : self_(self), puller_(puller) {}

  /// y of `round` (from 1) may be pulled.
  void on_published(TimePoint now, std::uint64_t round, Actions& out);
  /// A pull of a round, from 1; see Joining for others.
  void on_pull(Neighbour& neighbour, const Pull& pull, Actions& out);
  /// A snapshot that was asked for. Returns true when it completes the round.
  [[nodiscard]] bool on_snapshot(TimePoint now, Neighbour& neighbour, const Snapshot& snapshot,
                                 Actions& out);

  /// The last round that is complete here; and whether every neighbour has completed `round`.
  [[nodiscard]] std::uint64_t completed() const { return completed_; }
  [[nodiscard]] bool neighbours_completed(std::uint64_t round) const;

  /// See Engine::fields().
  template <typename A, typename T>
  static void fields(A& a, T& v) {
    a(v.published_, v.completed_, v.parked_);
  }

 private:
  void complete(TimePoint now);
  struct Parked {
    Rank rank = kNoRank;
    Pull pull{};
    template <typename A, typename T>
    static void fields(A& a, T& v) {
      a(v.rank, v.pull);
    }
  };

  Self& self_;
  Puller& puller_;
  std::uint64_t published_ = 0, completed_ = 0;
  std::vector<Parked> parked_;
  std::vector<Rank> sources_;  ///< of a round; kept for its memory
};

}  // namespace stencil
