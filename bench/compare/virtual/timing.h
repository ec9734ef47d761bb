#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/compare/cell.h"
#include "stencil/core/random.h"
#include "stencil/core/topology.h"

namespace fast::compare {

/// The times of steps and messages by a cell's clockwork and condition. Deterministic in the seed.
class StepTimes {
 public:
  explicit StepTimes(const Cell& cell);
  /// Seconds of worker `rank`'s next step.
  [[nodiscard]] double next(int rank);
  /// When a step of so many seconds, begun at `begin`, ends: later where the worker is away.
  [[nodiscard]] double end(int rank, double begin, double seconds) const;
  /// Seconds from sending to arrival of `bytes` on an idle link.
  [[nodiscard]] double transfer(double bytes) const { return sending(bytes) + latency_; }
  /// Seconds for which they occupy the link.
  [[nodiscard]] double sending(double bytes) const { return bytes / rate_; }
  [[nodiscard]] double latency() const { return latency_; }
  [[nodiscard]] double bytes_per_second() const { return rate_; }

 private:
  double step_, jitter_, latency_, rate_;
  std::vector<double> factor_;
  std::vector<Absence> away_;  ///< by their beginning
  std::vector<stencil::Random> random_;
};

/// The end of each round and the bytes sent, for strategies that go by rounds.
///
/// all-reduce: a ring's 2 (N - 1) messages of 1 / N of the reduced bytes. By default all of them
/// are assumed to be hidden behind the backward pass (two thirds of a step), except what exceeds
/// it; this favours all-reduce more than any buckets could. With a bucket size, a bucket is reduced
/// when every worker's backward pass has filled it and the bucket before is done. Gradients are
/// assumed to come evenly. Nothing of the last bucket is hidden.
///
/// parameter-server-sync: the server's only link carries N models in and N out.
///
/// stencil-sync: a worker waits only for its neighbours' round; its link carries one model for each
/// of them.
///
/// local, single: nobody waits.
class RoundClock {
 public:
  RoundClock(const Cell& cell, double model_bytes);
  /// Ends one more round.
  void tick();
  /// When the last worker has ended the round.
  [[nodiscard]] double seconds() const;
  /// Bytes sent so far by all workers (and a server), without headers.
  [[nodiscard]] double bytes() const;

 private:
  enum class Kind { kApart, kAllReduce, kServer, kNeighbours };
  /// The end of an all-reduce, given when all workers are ready and the longest step.
  [[nodiscard]] double hidden_reduce(double ready, double longest) const;
  /// Likewise, given the time of each worker's step.
  [[nodiscard]] double bucket_by_bucket(const std::vector<double>& step) const;
  /// Seconds in which a ring reduces so many bytes.
  [[nodiscard]] double reducing(double bytes) const;

  Kind kind_;
  stencil::Topology topology_;
  StepTimes steps_;
  double model_bytes_, bucket_bytes_;
  std::uint64_t rounds_ = 0;
  std::vector<double> at_;
};

}  // namespace fast::compare
