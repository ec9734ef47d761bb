#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stencil/core/types.h"

namespace stencil {

/// Who neighbours whom. An undirected, connected, simple graph: no self-edge, no doubled edge,
/// whatever the shape (sides of 1 and 2 included); N = 1 has no neighbours. Immutable value.
class Topology {
 public:
  /// ring:N | torus:AxB[xC][:moore] | grid:AxB[xC][:moore] | complete:N | edges:FILE
  /// An edges file has two ranks a line, undirected, in either or both directions; # begins a
  /// comment. Coordinates and sizes have no leading zeros: one graph, one spelling.
  /// Throws ConfigError, naming the spec and the valid forms, for anything else, for a
  /// disconnected graph and for a size over kMaxSize.
  static Topology parse(std::string_view spec);

  /// The body of an edges file (a parser of foreign bytes: see tests/fuzz). `spec` is kept as the
  /// name; the number of workers is the highest rank + 1. Throws ConfigError.
  static Topology from_edges(std::string_view text, std::string spec);

  static constexpr int kMaxSize = 1 << 20;

  [[nodiscard]] int size() const { return static_cast<int>(neighbours_.size()); }
  [[nodiscard]] const std::string& spec() const { return spec_; }

  /// Sorted by rank. Requires 0 <= rank < size().
  [[nodiscard]] std::span<const Rank> neighbours(Rank rank) const { return neighbours_[rank]; }
  [[nodiscard]] bool are_neighbours(Rank a, Rank b) const;

  /// Each undirected edge once, smaller rank first, sorted.
  [[nodiscard]] std::vector<std::pair<Rank, Rank>> edges() const;
  [[nodiscard]] double mean_degree() const;

  /// Side lengths of the grid, slowest-varying first ({A, B}); {N} for ring, complete and edges.
  [[nodiscard]] const std::vector<int>& shape() const { return shape_; }
  /// Coordinates of a rank in shape().
  [[nodiscard]] std::vector<int> coordinates(Rank rank) const;
  /// In which direction `to` lies from `from`, e.g. "+x", "-y", "+x-y"; x is the side that varies
  /// fastest. The other end sees the opposite. "" where the topology has no directions (complete,
  /// edges). Throws InvariantError where there is no edge.
  [[nodiscard]] std::string direction(Rank from, Rank to) const;

 private:
  Topology(std::string spec, std::vector<int> shape, std::vector<std::vector<Rank>> neighbours,
           bool has_directions, bool wraps);

  std::string spec_;
  std::vector<int> shape_;
  std::vector<std::vector<Rank>> neighbours_;
  bool has_directions_;
  bool wraps_;
};

}  // namespace stencil
