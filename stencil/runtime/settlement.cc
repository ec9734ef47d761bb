#include "stencil/runtime/settlement.h"

#include <algorithm>
#include <cmath>

namespace stencil {

Settlement::Settlement(Edges& edges, std::uint32_t buckets, double threshold)
    : edges_(edges), threshold_(threshold), buckets_(buckets), norm2_(buckets, 0.0F) {
  for (auto& [rank, edge] : edges_) add(edge);
}

void Settlement::add(Edge& edge) const {
  edge.distances = {.distance2 = BucketSums(buckets_, -1.0F), .missing = buckets_};
}

void Settlement::restart() {
  for (auto& [rank, edge] : edges_) {
    edge.distances.distance2.fill(-1.0F);
    edge.distances.missing = buckets_;
  }
}

void Settlement::measured(Edge& edge, std::uint32_t bucket, double distance2, double norm2,
                          int divisor, bool telling) {
  if (bucket >= buckets_ || divisor < 1) return;
  if (telling) {
    Distances& distances = edge.distances;
    if (distances.distance2[bucket] < 0) --distances.missing;
    distances.distance2.set(bucket, static_cast<float>(distance2));
  }
  note_norm(bucket, norm2);
  widen(bucket, std::sqrt(distance2) / divisor, telling ? &edge : nullptr);
}

void Settlement::moved(std::uint32_t bucket, double distance, double norm2) {
  // Another process wrote these values.
  if (bucket >= buckets_ || !(distance >= 0)) return;
  note_norm(bucket, norm2);
  widen(bucket, distance, nullptr);
}

/// Ignores values too large for a float, such as squares of 2e19 and more.
void Settlement::note_norm(std::uint32_t bucket, double norm2) {
  const auto value = static_cast<float>(norm2);
  if (norm2 > 0 && std::isfinite(value)) norm2_.set(bucket, value);
}

void Settlement::widen(std::uint32_t bucket, double moved, const Edge* except) {
  for (auto& [rank, edge] : edges_) {
    BucketSums& distance2 = edge.distances.distance2;
    if (&edge == except || distance2[bucket] < 0) continue;
    const double bound = std::sqrt(distance2[bucket]) + moved;
    distance2.set(bucket, static_cast<float>(bound * bound));
  }
}

bool Settlement::settled() const {
  double sum = 0;
  int counted = 0;
  for (const auto& [rank, edge] : edges_) {
    // A joining neighbour brings a model of its own or copies ours. Either way more exchanges
    // follow.
    if (edge.neighbour.up() && edge.neighbour.report.state == WorkerState::kJoining) return false;
    if (!edge.neighbour.askable()) continue;
    if (edge.distances.missing > 0) return false;
    sum += edge.distances.distance2.sum();
    ++counted;
  }
  if (counted == 0) return true;
  return std::isfinite(sum) && sum <= counted * threshold_ * threshold_ * norm2_.sum();
}

bool Settlement::compared() const {
  const double near2 = threshold_ * threshold_ * norm2_.sum();
  return std::any_of(edges_.begin(), edges_.end(), [&](const Edges::value_type& at) {
    const Edge& edge = at.second;
    if (edge.distances.missing > 0) return false;
    // It may have frozen, and left, between its last exchange with us and now.
    const bool frozen = edge.neighbour.report.state == WorkerState::kFrozen;
    return edge.neighbour.askable() || (frozen && edge.distances.distance2.sum() <= near2);
  });
}

double Settlement::relative_distance() const {
  double sum = 0;
  int counted = 0;
  for (const auto& [rank, edge] : edges_) {
    if (edge.distances.missing == buckets_) continue;
    sum += edge.distances.distance2.sum();
    ++counted;
  }
  const double norm = norm2_.sum();
  return counted == 0 || norm == 0 ? 0 : std::sqrt(sum / counted / norm);
}

}  // namespace stencil
