#include "stencil/runtime/settlement.h"

#include <algorithm>
#include <cmath>

#include "stencil/core/mixing_weights.h"

namespace stencil {

double settle_threshold(const Topology& topology, double target) {
  if (topology.size() < 2) return target;
  return target * std::sqrt(2 * lambda2(topology) / topology.mean_degree());
}

Settlement::Settlement(std::span<const Rank> neighbours, std::uint32_t buckets, double threshold)
    : threshold_(threshold), buckets_(buckets), norm2_(buckets, 0.0F) {
  for (const Rank rank : neighbours) edges_.push_back({rank, std::vector<float>(buckets), 0});
  restart();
}

void Settlement::restart() {
  for (PerEdge& edge : edges_) {
    std::ranges::fill(edge.distance2, -1.0F);
    edge.missing = buckets_;
  }
}

void Settlement::measured(Rank rank, std::uint32_t bucket, double distance2, double norm2,
                          int divisor, bool telling) {
  if (bucket >= buckets_ || divisor < 1) return;
  const auto it = std::ranges::find(edges_, rank, &PerEdge::rank);
  if (it == edges_.end()) return;
  if (telling) {
    if (it->distance2[bucket] < 0) --it->missing;
    it->distance2[bucket] = static_cast<float>(distance2);
  }
  if (norm2 > 0) norm2_[bucket] = static_cast<float>(norm2);
  widen(bucket, std::sqrt(distance2) / divisor, telling ? rank : kNoRank);
}

void Settlement::moved(std::uint32_t bucket, double distance, double norm2) {
  // Another process wrote these.
  if (bucket >= buckets_ || !(distance >= 0) || !std::isfinite(distance)) return;
  if (norm2 > 0 && std::isfinite(norm2)) norm2_[bucket] = static_cast<float>(norm2);
  widen(bucket, distance, kNoRank);
}

void Settlement::widen(std::uint32_t bucket, double moved, Rank except) {
  for (PerEdge& edge : edges_) {
    if (edge.rank == except || edge.distance2[bucket] < 0) continue;
    const double bound = std::sqrt(edge.distance2[bucket]) + moved;
    edge.distance2[bucket] = static_cast<float>(bound * bound);
  }
}

double Settlement::edge_distance2(const PerEdge& edge) const {
  double sum = 0;
  for (const float d : edge.distance2) sum += std::max(d, 0.0F);
  return sum;
}

double Settlement::norm2() const {
  double sum = 0;
  for (const float n : norm2_) sum += n;
  return sum;
}

bool Settlement::settled(std::span<const Edge> edges) const {
  double sum = 0;
  int counted = 0;
  for (const Edge& edge : edges) {
    // It will bring a model of its own, or copy ours: either way there is more to come.
    if (edge.up() && edge.peer_state == WorkerState::kJoining) return false;
    if (!edge.askable()) continue;
    const auto it = std::ranges::find(edges_, edge.rank, &PerEdge::rank);
    if (it->missing > 0) return false;
    sum += edge_distance2(*it);
    ++counted;
  }
  if (counted == 0) return true;
  return sum <= counted * threshold_ * threshold_ * norm2();
}

double Settlement::relative_distance() const {
  double sum = 0;
  int counted = 0;
  for (const PerEdge& edge : edges_) {
    if (edge.missing == buckets_) continue;
    sum += edge_distance2(edge);
    ++counted;
  }
  const double norm = norm2();
  return counted == 0 || norm == 0 ? 0 : std::sqrt(sum / counted / norm);
}

}  // namespace stencil
