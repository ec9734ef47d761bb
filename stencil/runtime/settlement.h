#pragma once

#include <cstdint>

#include "stencil/runtime/edge.h"

namespace stencil {

/// How far this worker's model is from its neighbours', as measured by the exchanges themselves,
/// bucket by bucket (Edge::distances), and whether that is near enough to stop. One thread.
///
/// Since the sum over edges of |x_i - x_j|^2 is at least lambda2 |X - mean|^2, a consensus distance
/// of `target` (rms over workers of |x_i - mean| / |mean|) is reached when every worker's rms edge
/// distance is under target * sqrt(2 lambda2 / mean degree).
class Settlement {
 public:
  /// `buckets` are the model's. `threshold`: see Grid::settle_threshold(). `edges` must outlive
  /// this.
  Settlement(Edges& edges, std::uint32_t buckets, double threshold);

  /// A new edge, not measured yet.
  void add(Edge& edge) const;
  /// From now on only fresh measurements count.
  void restart();
  /// An exchange measured `distance2` between the two ends and moved us by 1 / `divisor` of the
  /// difference. That move is added to the distances of the other edges until they are measured
  /// anew. The neighbour accounts for its own move. Where the exchange is not `telling`, because an
  /// end still had a step to make, only the move counts.
  void measured(Edge& edge, std::uint32_t bucket, double distance2, double norm2, int divisor,
                bool telling = true);

  /// A neighbour moved us in shared memory, by `distance` in all; `norm2` as above. The move is
  /// added to the distance of every edge, its own included: its measurement may be older than ours.
  void moved(std::uint32_t bucket, double distance, double norm2);

  /// Whether every edge to a neighbour that is up and not frozen was measured in full since
  /// restart(), and their rms distance is under the threshold. True where there is no such edge.
  [[nodiscard]] bool settled() const;

  /// Whether there is at least one such edge, or a neighbour that froze as near.
  [[nodiscard]] bool compared() const;

  /// rms over measured edges of |x_i - x_j| / |x_i|; 0 before anything was measured.
  [[nodiscard]] double relative_distance() const;
  [[nodiscard]] double threshold() const { return threshold_; }
  void set_threshold(double threshold) { threshold_ = threshold; }

 private:
  void note_norm(std::uint32_t bucket, double norm2);
  void widen(std::uint32_t bucket, double moved, const Edge* except);

  Edges& edges_;
  double threshold_;
  std::uint32_t buckets_;
  BucketSums norm2_;  ///< the latest value of each bucket
};

}  // namespace stencil
