#include "stencil/core/topology.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "stencil/core/error.h"
#include "stencil/core/graph.h"
#include "stencil/core/text.h"
#include "stencil/core/topologies/edges.h"
#include "stencil/core/topologies/kinds.h"
#include "stencil/core/topologies/sides.h"

namespace stencil {

namespace {

using internal::Graph;

/// Hops from rank 0 to each rank; -1 where no path leads.
std::vector<int> hops_from_first(const std::vector<std::vector<Rank>>& neighbours) {
  std::vector<int> hops(neighbours.size(), -1);
  std::vector<Rank> order = {0};
  hops[0] = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto from = static_cast<std::size_t>(order[i]);
    for (const Rank to : neighbours[from]) {
      if (hops[static_cast<std::size_t>(to)] >= 0) continue;
      hops[static_cast<std::size_t>(to)] = hops[from] + 1;
      order.push_back(to);
    }
  }
  return hops;
}

}  // namespace

Topology::Topology(std::string spec, Graph&& graph) : spec_(std::move(spec)) {
  const std::vector<int> hops = hops_from_first(graph.neighbours);
  if (const auto lost = std::ranges::find(hops, -1); lost != hops.end()) {
    throw ConfigError("topology " + in_quotes(spec_) +
                          " is disconnected: no path joins ranks 0 and " +
                          std::to_string(lost - hops.begin()),
                      "add an edge between the two parts, or run them separately");
  }
  graph.reach = std::ranges::max(hops) * (graph.irregular ? 2 : 1);
  graph_ = std::make_shared<const Graph>(std::move(graph));
}

Topology Topology::parse(std::string_view spec) {
  const auto colon = spec.find(':');
  if (colon == std::string_view::npos) internal::refuse(spec, "no ':' after the kind");
  const auto name = spec.substr(0, colon);
  const auto kinds = topology_kinds();
  const auto kind = std::ranges::find(kinds, name, &TopologyKind::name);
  if (kind == kinds.end()) internal::refuse(spec, "unknown kind " + in_quotes(name));
  return {std::string(spec), kind->make(spec.substr(colon + 1), spec)};
}

Topology Topology::from_edges(std::string_view text, std::string spec) {
  Graph graph = internal::parse_edges(text, spec);
  return {std::move(spec), std::move(graph)};
}

Topology Topology::of(std::vector<std::vector<Rank>> neighbours, std::string spec) {
  Graph graph{.shape = {static_cast<int>(neighbours.size())}, .neighbours = std::move(neighbours)};
  graph.irregular = true;
  return {std::move(spec), std::move(graph)};
}

int Topology::size() const {
  return static_cast<int>(graph_->neighbours.size());
}

std::span<const Rank> Topology::neighbours(Rank rank) const {
  return graph_->neighbours[static_cast<std::size_t>(rank)];
}

const std::vector<int>& Topology::shape() const {
  return graph_->shape;
}

bool Topology::are_neighbours(Rank a, Rank b) const {
  if (a < 0 || a >= size()) return false;
  const auto& list = graph_->neighbours[static_cast<std::size_t>(a)];
  return std::binary_search(list.begin(), list.end(), b);
}

int Topology::reach() const {
  return graph_->reach;
}

std::vector<std::pair<Rank, Rank>> Topology::edges() const {
  std::vector<std::pair<Rank, Rank>> result;
  for (Rank rank = 0; rank < size(); ++rank) {
    for (const Rank other : neighbours(rank)) {
      if (rank < other) result.emplace_back(rank, other);
    }
  }
  return result;
}

double Topology::mean_degree() const {
  std::size_t ends = 0;
  for (const auto& list : graph_->neighbours) ends += list.size();
  return static_cast<double>(ends) / static_cast<double>(size());
}

bool Topology::has_directions() const {
  return graph_->has_directions;
}

std::vector<int> Topology::coordinates(Rank rank) const {
  const std::vector<int>& shape = graph_->shape;
  std::vector<int> result(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    result[axis] = rank % shape[axis];
    rank /= shape[axis];
  }
  return result;
}

std::string Topology::direction(Rank from, Rank to) const {
  if (!are_neighbours(from, to)) {
    throw InvariantError("Topology::direction(" + std::to_string(from) + ", " + std::to_string(to) +
                         "): no such edge in " + spec_);
  }
  if (!graph_->has_directions) return "";
  const auto here = coordinates(from);
  const auto there = coordinates(to);
  std::string result;
  for (std::size_t i = 0; i < here.size(); ++i) {
    const std::size_t axis = here.size() - 1 - i;  // x varies fastest
    int step = there[axis] - here[axis];
    if (step == 0) continue;
    if (graph_->wraps && std::abs(step) > 1) step = -step;  // the shorter way crosses the border
    result += step > 0 ? '+' : '-';
    result += "xyz"[i];
  }
  return result;
}

}  // namespace stencil
