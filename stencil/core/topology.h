#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stencil/core/types.h"

namespace stencil {

namespace internal {
struct Graph;
}

/// The graph of neighbours: undirected, connected and simple. It has no self-edge and no doubled
/// edge, whatever the shape (sides of 1 and 2 included). N = 1 has no neighbours. Immutable value;
/// copies share one graph, so that thousands of workers in one process do not hold one each.
class Topology {
 public:
  /// KIND:ARGUMENTS, e.g. torus:4x4; topologies/kinds.h lists the kinds. Throws ConfigError, naming
  /// the spec and the valid forms, for anything else, for a disconnected graph and for a size over
  /// kMaxSize.
  static Topology parse(std::string_view spec);

  /// Parses the body of an edges file, which is untrusted input (see tests/fuzz). `spec` becomes
  /// the topology's name. The number of workers is the highest rank + 1. Throws ConfigError.
  static Topology from_edges(std::string_view text, std::string spec);

  /// The connected graph in which rank i has `neighbours[i]`, sorted; both ends name each other.
  static Topology of(std::vector<std::vector<Rank>> neighbours, std::string spec);

  static constexpr int kMaxSize = 1 << 20;

  [[nodiscard]] int size() const;
  [[nodiscard]] const std::string& spec() const { return spec_; }

  /// Sorted by rank. Requires 0 <= rank < size().
  [[nodiscard]] std::span<const Rank> neighbours(Rank rank) const;
  [[nodiscard]] bool are_neighbours(Rank a, Rank b) const;
  /// A number of hops that joins any two workers: the diameter, or for edges:FILE and of() at
  /// most twice the diameter.
  [[nodiscard]] int reach() const;

  /// Each undirected edge once, smaller rank first, sorted.
  [[nodiscard]] std::vector<std::pair<Rank, Rank>> edges() const;
  [[nodiscard]] double mean_degree() const;

  /// Side lengths of the grid, slowest-varying first ({A, B}); {N} for ring, complete and edges.
  [[nodiscard]] const std::vector<int>& shape() const;
  /// Coordinates of a rank in shape().
  [[nodiscard]] std::vector<int> coordinates(Rank rank) const;
  /// Ranks lie in rows and columns, and edges join adjacent places.
  [[nodiscard]] bool has_directions() const;
  /// The direction from `from` to `to`, e.g. "+x", "-y", "+x-y"; x is the side that varies fastest.
  /// The other end sees the opposite. "" where the topology has no directions (complete, edges).
  /// Throws InvariantError where there is no edge.
  [[nodiscard]] std::string direction(Rank from, Rank to) const;

 private:
  Topology(std::string spec, internal::Graph&& graph);

  std::string spec_;
  std::shared_ptr<const internal::Graph> graph_;
};

}  // namespace stencil
