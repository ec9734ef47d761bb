#include "stencil/core/topology.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "stencil/core/error.h"
#include "stencil/core/graph.h"

namespace stencil {

namespace {

using internal::Graph;
using internal::Neighbourhood;
using internal::quoted;

constexpr const char* kValidForms =
    "valid forms are ring:N, torus:AxB[xC][:moore], grid:AxB[xC][:moore], complete:N, edges:FILE";
constexpr std::size_t kMaxFileBytes = std::size_t{256} << 20;

[[noreturn]] void refuse(std::string_view spec, const std::string& cause) {
  throw ConfigError("topology " + quoted(spec) + ": " + cause, kValidForms);
}

/// One side or size: decimal, without sign or leading zero, so that one graph has one spelling.
int parse_side(std::string_view text, std::string_view spec) {
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(),
                                                   [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || text.front() == '0') {
    refuse(spec, quoted(text) + " is not a number of workers, 1 or more");
  }
  int side = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), side);
  if (status != std::errc() || side > Topology::kMaxSize) {
    refuse(spec, quoted(text) + " is over " + std::to_string(Topology::kMaxSize) + " workers");
  }
  return side;
}

std::vector<int> parse_sides(std::string_view text, std::string_view spec) {
  std::vector<int> sides;
  std::int64_t size = 1;
  while (true) {
    const auto length = text.find('x');
    sides.push_back(parse_side(text.substr(0, length), spec));
    size *= sides.back();
    if (sides.size() > 3) refuse(spec, "more than three sides");
    if (size > Topology::kMaxSize) {
      refuse(spec, "more than " + std::to_string(Topology::kMaxSize) + " workers");
    }
    if (length == std::string_view::npos) break;
    text.remove_prefix(length + 1);
  }
  if (sides.size() < 2) refuse(spec, "one side only, two or three are needed");
  return sides;
}

Graph parse_box(std::string_view text, bool wraps, std::string_view spec) {
  auto neighbourhood = Neighbourhood::kVonNeumann;
  if (const auto colon = text.find(':'); colon != std::string_view::npos) {
    if (text.substr(colon) != ":moore") {
      refuse(spec, "unknown neighbourhood " + quoted(text.substr(colon + 1)));
    }
    neighbourhood = Neighbourhood::kMoore;
    text = text.substr(0, colon);
  }
  return internal::make_box(parse_sides(text, spec), wraps, neighbourhood);
}

Graph parse_complete(std::string_view text, std::string_view spec) {
  const int size = parse_side(text, spec);
  if (std::int64_t{size} * (size - 1) / 2 > internal::kMaxEdges) {
    refuse(spec, "more than " + std::to_string(internal::kMaxEdges) + " edges");
  }
  return internal::make_complete(size);
}

std::string read_edges_file(const std::string& path, std::string_view spec) {
  const auto fail = [&](const std::string& cause) {
    throw ConfigError("topology " + quoted(spec) + ": " + cause,
                      "name a readable text file with two ranks a line");
  };
  std::ifstream file(path, std::ios::binary);
  if (!file) fail("cannot open the file " + quoted(path));
  std::string text;
  std::vector<char> block(std::size_t{64} << 10);
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > kMaxFileBytes) {
      fail("the file is larger than " + std::to_string(kMaxFileBytes) + " bytes");
    }
  }
  if (file.bad()) fail("cannot read the file " + quoted(path));
  return text;
}

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
    throw ConfigError("topology " + quoted(spec_) + " is disconnected: no path joins ranks 0 and " +
                          std::to_string(lost - hops.begin()),
                      "add an edge between the two parts, or run them separately");
  }
  graph.reach = std::ranges::max(hops) * (graph.irregular ? 2 : 1);
  graph_ = std::make_shared<const Graph>(std::move(graph));
}

Topology Topology::parse(std::string_view spec) {
  const auto colon = spec.find(':');
  if (colon == std::string_view::npos) refuse(spec, "no ':' after the kind");
  const auto kind = spec.substr(0, colon);
  const auto rest = spec.substr(colon + 1);
  if (kind == "edges") {
    if (rest.empty()) refuse(spec, "no file is named");
    return from_edges(read_edges_file(std::string(rest), spec), std::string(spec));
  }

  Graph graph;
  if (kind == "ring") {
    graph = internal::make_box({parse_side(rest, spec)}, true, Neighbourhood::kVonNeumann);
  } else if (kind == "torus" || kind == "grid") {
    graph = parse_box(rest, kind == "torus", spec);
  } else if (kind == "complete") {
    graph = parse_complete(rest, spec);
  } else {
    refuse(spec, "unknown kind " + quoted(kind));
  }
  return {std::string(spec), std::move(graph)};
}

Topology Topology::from_edges(std::string_view text, std::string spec) {
  Graph graph = internal::parse_edges(text, spec);
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
    if (graph_->wraps && std::abs(step) > 1) step = -step;  // over the border is the shorter way
    result += step > 0 ? '+' : '-';
    result += "xyz"[i];
  }
  return result;
}

}  // namespace stencil
