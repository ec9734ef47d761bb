#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/compare/cell.h"
#include "stencil/core/random.h"
#include "stencil/core/topology.h"

namespace fast::compare {

/// How long steps and messages last by a cell's clockwork and condition. Deterministic in the seed.
class StepTimes {
 public:
  explicit StepTimes(const Cell& cell);
  /// Of worker `rank`'s next step, seconds.
  [[nodiscard]] double next(int rank);
  /// Until `bytes` have left a worker and arrived, nothing else being sent.
  [[nodiscard]] double transfer(double bytes) const { return sending(bytes) + latency_; }
  /// How long they keep the link.
  [[nodiscard]] double sending(double bytes) const { return bytes / rate_; }
  [[nodiscard]] double latency() const { return latency_; }
  [[nodiscard]] double bytes_per_second() const { return rate_; }

 private:
  double step_, jitter_, latency_, rate_;
  std::vector<double> factor_;
  std::vector<stencil::Random> random_;
};

/// When rounds end, and what they send, for the strategies that go by rounds.
///
/// all-reduce: a ring's 2 (N - 1) messages of 1 / N of what is reduced. Unasked, all of them but
/// what exceeds the backward pass (two thirds of a step) are taken to be hidden behind it: in its
/// favour, as no buckets can. With buckets of a size, each is reduced once everybody's backward
/// pass has filled it, to which gradients are taken to come evenly, and the one before is done: of
/// the last nothing is hidden.
///
/// parameter-server-sync: the server's one link carries N models in and N out.
///
/// stencil-sync: a worker waits for its neighbours' round alone; its link carries one model for
/// each of them.
///
/// local, single: nobody waits.
class RoundClock {
 public:
  RoundClock(const Cell& cell, double model_bytes);
  /// Ends one more round.
  void tick();
  /// When the last worker has ended it.
  [[nodiscard]] double seconds() const;
  /// Sent so far by all workers (and a server), without headers.
  [[nodiscard]] double bytes() const;

 private:
  enum class Kind { kApart, kAllReduce, kServer, kNeighbours };
  /// Of an all-reduce, by when everybody is ready and how long their steps took.
  [[nodiscard]] double hidden_reduce(double ready, double longest) const;
  /// Likewise, by when each began and how long its step took.
  [[nodiscard]] double bucket_by_bucket(const std::vector<double>& step) const;
  /// How long a ring takes to reduce so many.
  [[nodiscard]] double reducing(double bytes) const;

  Kind kind_;
  stencil::Topology topology_;
  StepTimes steps_;
  double model_bytes_, bucket_bytes_;
  std::uint64_t rounds_ = 0;
  std::vector<double> at_;
};

}  // namespace fast::compare
