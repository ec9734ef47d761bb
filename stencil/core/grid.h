#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stencil/core/place.h"
#include "stencil/core/topology.h"

namespace stencil {

/// The grid on which workers stand: who is there, who is whose neighbour, in which turn each pair
/// meets, and every number that follows from it. It begins as a topology; workers come and go by
/// add() and remove(). Whoever makes the same changes in the same order has the same grid, turns
/// included, and version() counts them.
///
/// What takes long is computed when it is first asked for, and again after a change. Where a worker
/// that left has cut the grid, each part goes on by itself, and the numbers are those that serve
/// every part. Not thread-safe, not even const.
class Grid {
 public:
  /// Implicit: a topology is a grid that has not changed.
  Grid(const Topology& topology);  // NOLINT(google-explicit-constructor)

  /// What it began as.
  [[nodiscard]] const Topology& topology() const { return topology_; }
  [[nodiscard]] const std::string& spec() const { return topology_.spec(); }
  [[nodiscard]] std::uint64_t version() const { return changes_.size(); }

  /// One add(), or, where nobody is named, one remove().
  struct Change {
    Rank rank = kNoRank;
    std::vector<Rank> neighbours;
    friend bool operator==(const Change&, const Change&) = default;
  };
  /// All that were made, in order.
  [[nodiscard]] const std::vector<Change>& changes() const { return changes_; }

  // Workers.
  [[nodiscard]] int size() const { return size_; }
  /// The ranks of all workers, those that have left included, are below this.
  [[nodiscard]] Rank ranks() const { return static_cast<Rank>(places_.size()); }
  [[nodiscard]] bool contains(Rank rank) const;
  /// The neighbours of `rank`, sorted by rank; none for who is not on the grid.
  [[nodiscard]] std::vector<Place> places(Rank rank) const;

  // Numbers that are the same for all.
  /// See Turns; each Place::turn is below this.
  [[nodiscard]] std::size_t turns() const { return turns_; }
  /// Of ranks, edges and their turns; never 0. Other changes, or the same in another order, give
  /// another one.
  [[nodiscard]] std::uint64_t hash() const;
  /// See Topology::reach().
  [[nodiscard]] int reach() const;
  /// See stencil::lambda2(). Takes seconds for thousands of workers.
  [[nodiscard]] double lambda2() const;
  /// See usual_sweeps().
  [[nodiscard]] int sweeps() const;
  /// The rms edge distance, relative to |x|, under which a worker may stop so that the consensus
  /// distance reaches `target`: target * sqrt(2 lambda2 / mean degree). See Settlement.
  [[nodiscard]] double settle_threshold(double target) const;

  // Changes.
  /// A worker comes, as the neighbour of these; each edge takes the first turn that is free at both
  /// ends. `rank` may be that of a worker that has left. Throws ConfigError where `rank` is on the
  /// grid or over Topology::kMaxSize, and where `neighbours` is empty, names one twice or one that
  /// is not on the grid; nothing is changed then.
  void add(Rank rank, std::span<const Rank> neighbours);
  /// A worker goes, with its edges. Throws ConfigError where it is not on the grid or is the last.
  void remove(Rank rank);
  /// Makes a change that another grid of this kind has made.
  void repeat(const Change& change);

 private:
  struct Edge {
    Rank to;
    std::uint32_t turn;
  };
  /// Of one change; nothing: not computed yet.
  struct Derived {
    std::vector<Topology> parts;
    std::optional<std::uint64_t> hash;
    std::optional<int> reach, sweeps;
    std::optional<double> lambda2, settle_share;
  };
  [[nodiscard]] const std::vector<Edge>& edges(Rank rank) const;
  void join(Rank a, Rank b);
  void changed(Change change);
  /// The connected parts, their workers numbered anew.
  [[nodiscard]] const std::vector<Topology>& parts() const;

  Topology topology_;
  std::vector<std::optional<std::vector<Edge>>> places_;  ///< by rank; nothing: not on the grid
  int size_;
  std::size_t turns_;
  std::vector<Change> changes_;
  mutable Derived derived_;
};

}  // namespace stencil
