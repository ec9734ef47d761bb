#include "stencil/core/grid.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "stencil/core/error.h"
#include "stencil/core/mixing_weights.h"
#include "stencil/core/text.h"
#include "stencil/core/turns.h"
#include "stencil/core/usual_sweeps.h"

namespace stencil {
namespace {

/// The share of a consensus distance that each edge may have.
double settle_share(const Topology& part) {
  if (part.size() < 2) return 1;
  return std::sqrt(2 * lambda2(part) / part.mean_degree());
}

}  // namespace

Grid::Grid(const Topology& topology) : topology_(topology), size_(topology.size()) {
  const Turns meetings(topology);
  turns_ = meetings.count();
  places_.resize(static_cast<std::size_t>(size_));
  for (Rank rank = 0; rank < size_; ++rank) {
    std::vector<Edge>& edges = places_[static_cast<std::size_t>(rank)].emplace();
    const auto partners = meetings.of(rank);
    for (const Rank other : topology.neighbours(rank)) {
      const auto turn = std::ranges::find(partners, other) - partners.begin();
      edges.push_back({other, static_cast<std::uint32_t>(turn)});
    }
  }
  derived_.parts = {topology_};
}

bool Grid::contains(Rank rank) const {
  return rank >= 0 && rank < ranks() && places_[static_cast<std::size_t>(rank)];
}

const std::vector<Grid::Edge>& Grid::edges(Rank rank) const {
  return *places_[static_cast<std::size_t>(rank)];
}

std::vector<Place> Grid::places(Rank rank) const {
  std::vector<Place> places;
  if (!contains(rank)) return places;
  const std::size_t degree = edges(rank).size();
  for (const Edge& edge : edges(rank)) {
    places.push_back({.rank = edge.to,
                      .turn = edge.turn,
                      .weight = mixing_weight(degree, edges(edge.to).size())});
  }
  return places;
}

void Grid::add(Rank rank, std::span<const Rank> neighbours) {
  const std::string refusal =
      "cannot add rank " + std::to_string(rank) + " to the grid " + in_quotes(spec()) + ": ";
  if (rank < 0 || rank >= Topology::kMaxSize || contains(rank)) {
    throw ConfigError(refusal + (contains(rank) ? "it is there already" : "no such rank can be"),
                      "use " + std::to_string(ranks()) + ", or the rank of a worker that has left");
  }
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    const bool twice = std::ranges::count(neighbours.first(i), neighbours[i]) > 0;
    if (!twice && contains(neighbours[i])) continue;
    throw ConfigError(refusal + "its neighbour " + std::to_string(neighbours[i]) +
                          (twice ? " is named twice" : " is not there"),
                      "name ranks that are on the grid, each once");
  }
  if (neighbours.empty()) {
    throw ConfigError(refusal + "it has no neighbour", "name one rank at least");
  }
  if (rank >= ranks()) places_.resize(static_cast<std::size_t>(rank) + 1);
  places_[static_cast<std::size_t>(rank)].emplace();
  ++size_;
  for (const Rank other : neighbours) join(rank, other);
  changed({rank, {neighbours.begin(), neighbours.end()}});
}

void Grid::join(Rank a, Rank b) {
  const auto taken = [this](Rank rank, std::uint32_t turn) {
    return std::ranges::find(edges(rank), turn, &Edge::turn) != edges(rank).end();
  };
  std::uint32_t turn = 0;
  while (taken(a, turn) || taken(b, turn)) ++turn;
  for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
    std::vector<Edge>& edges = *places_[static_cast<std::size_t>(from)];
    edges.insert(std::ranges::upper_bound(edges, to, {}, &Edge::to), {to, turn});
  }
}

void Grid::remove(Rank rank) {
  if (!contains(rank) || size_ == 1) {
    throw ConfigError("cannot remove rank " + std::to_string(rank) + " from the grid " +
                          in_quotes(spec()) + ": it is " +
                          (contains(rank) ? "the last one" : "not there"),
                      "name one of several workers that are on the grid");
  }
  for (const Edge& edge : edges(rank)) {
    std::erase_if(*places_[static_cast<std::size_t>(edge.to)],
                  [rank](const Edge& back) { return back.to == rank; });
  }
  places_[static_cast<std::size_t>(rank)].reset();
  --size_;
  changed({.rank = rank, .neighbours = {}});
}

void Grid::repeat(const Change& change) {
  if (change.neighbours.empty()) return remove(change.rank);
  add(change.rank, change.neighbours);
}

void Grid::changed(Change change) {
  changes_.push_back(std::move(change));
  derived_ = {};
  turns_ = 0;
  for (const auto& edges : places_) {
    if (!edges) continue;
    for (const Edge& edge : *edges) turns_ = std::max<std::size_t>(turns_, edge.turn + 1);
  }
}

const std::vector<Topology>& Grid::parts() const {
  std::vector<Topology>& parts = derived_.parts;
  if (!parts.empty()) return parts;
  std::vector<Rank> number(places_.size(), kNoRank);
  for (Rank first = 0; first < ranks(); ++first) {
    if (!contains(first) || number[static_cast<std::size_t>(first)] != kNoRank) continue;
    std::vector<Rank> part = {first};
    number[static_cast<std::size_t>(first)] = 0;
    for (std::size_t i = 0; i < part.size(); ++i) {
      for (const Edge& edge : edges(part[i])) {
        Rank& found = number[static_cast<std::size_t>(edge.to)];
        if (found != kNoRank) continue;
        found = static_cast<Rank>(part.size());
        part.push_back(edge.to);
      }
    }
    std::vector<std::vector<Rank>> neighbours(part.size());
    for (std::size_t i = 0; i < part.size(); ++i) {
      for (const Edge& edge : edges(part[i])) {
        neighbours[i].push_back(number[static_cast<std::size_t>(edge.to)]);
      }
      std::ranges::sort(neighbours[i]);
    }
    parts.push_back(Topology::of(std::move(neighbours), spec()));
  }
  return parts;
}

std::uint64_t Grid::hash() const {
  if (!derived_.hash) {
    std::vector<std::uint32_t> all;
    for (Rank rank = 0; rank < ranks(); ++rank) {
      if (!contains(rank)) continue;
      all.insert(all.end(), {UINT32_MAX, static_cast<std::uint32_t>(rank)});
      for (const Edge& edge : edges(rank)) {
        all.insert(all.end(), {static_cast<std::uint32_t>(edge.to), edge.turn});
      }
    }
    derived_.hash =
        std::max<std::uint64_t>(1, XXH3_64bits(all.data(), all.size() * sizeof(std::uint32_t)));
  }
  return *derived_.hash;
}

int Grid::reach() const {
  if (!derived_.reach) {
    int& reach = derived_.reach.emplace(0);
    for (const Topology& part : parts()) reach = std::max(reach, part.reach());
  }
  return *derived_.reach;
}

double Grid::lambda2() const {
  if (!derived_.lambda2) {
    double& least = derived_.lambda2.emplace(std::numeric_limits<double>::infinity());
    for (const Topology& part : parts()) least = std::min(least, stencil::lambda2(part));
  }
  return *derived_.lambda2;
}

int Grid::sweeps() const {
  if (!derived_.sweeps) {
    int& sweeps = derived_.sweeps.emplace(0);
    for (const Topology& part : parts()) sweeps = std::max(sweeps, usual_sweeps(part));
  }
  return *derived_.sweeps;
}

double Grid::settle_threshold(double target) const {
  if (!derived_.settle_share) {
    double& least = derived_.settle_share.emplace(std::numeric_limits<double>::infinity());
    for (const Topology& part : parts()) least = std::min(least, settle_share(part));
  }
  return target * *derived_.settle_share;
}

}  // namespace stencil
