#include "bench/compare/virtual/timing.h"

#include <algorithm>

namespace fast::compare {
namespace {

constexpr double kBackwardShare = 2.0 / 3.0;

}  // namespace

StepTimes::StepTimes(const Cell& cell)
    : step_(cell.clockwork.step_seconds),
      jitter_(cell.condition.jitter),
      latency_(cell.clockwork.latency),
      rate_((cell.condition.link_mbit > 0 ? cell.condition.link_mbit : cell.clockwork.rate_mbit) *
            1e6 / 8),
      away_(cell.condition.away) {
  std::ranges::sort(away_, {}, &Absence::from);
  for (int rank = 0; rank < cell.workers(); ++rank) {
    const auto it = cell.condition.slow.find(rank);
    factor_.push_back(it == cell.condition.slow.end() ? 1 : it->second);
    random_.emplace_back(stencil::Random::derive(cell.seed, 0x73746570ULL + rank));
  }
}

double StepTimes::next(int rank) {
  const auto i = static_cast<std::size_t>(rank);
  return step_ * factor_[i] * (1 + jitter_ * random_[i].uniform());
}

double StepTimes::end(int rank, double begin, double seconds) const {
  double end = begin + seconds;
  for (const Absence& one : away_) {
    if (one.rank != rank || one.to <= begin || one.from >= end) continue;
    end += one.to - std::max(one.from, begin);
  }
  return end;
}

RoundClock::RoundClock(const Cell& cell, double model_bytes)
    : kind_(cell.strategy.name == "allreduce"               ? Kind::kAllReduce
            : cell.strategy.name == "parameter-server-sync" ? Kind::kServer
            : cell.strategy.name == "stencil-sync"          ? Kind::kNeighbours
                                                            : Kind::kApart),
      topology_(stencil::Topology::parse(cell.strategy.name == "single" ? "ring:1"
                                                                        : cell.condition.topology)),
      steps_(cell),
      model_bytes_(model_bytes),
      bucket_bytes_(cell.strategy.exchange.bucket_kib * 1024.0),
      at_(static_cast<std::size_t>(cell.workers())) {}

void RoundClock::tick() {
  ++rounds_;
  const std::size_t n = at_.size();
  std::vector<double> step(n), ready(n);
  for (std::size_t i = 0; i < n; ++i) {
    const int rank = static_cast<int>(i);
    ready[i] = steps_.end(rank, at_[i], steps_.next(rank));
    step[i] = ready[i] - at_[i];
  }
  switch (kind_) {
    case Kind::kApart:
      at_ = ready;
      return;
    case Kind::kAllReduce: {
      std::ranges::fill(at_, bucket_bytes_ > 0 ? bucket_by_bucket(step)
                                               : hidden_reduce(*std::ranges::max_element(ready),
                                                               *std::ranges::max_element(step)));
      return;
    }
    case Kind::kServer: {
      const double all = 2 * steps_.transfer(static_cast<double>(n) * model_bytes_);
      std::ranges::fill(at_, *std::ranges::max_element(ready) + all);
      return;
    }
    case Kind::kNeighbours:
      for (std::size_t i = 0; i < n; ++i) {
        const auto neighbours = topology_.neighbours(static_cast<stencil::Rank>(i));
        at_[i] = ready[i];
        for (const stencil::Rank j : neighbours) {
          const auto degree = static_cast<double>(topology_.neighbours(j).size());
          at_[i] = std::max(
              at_[i], ready[static_cast<std::size_t>(j)] + steps_.transfer(degree * model_bytes_));
        }
      }
      return;
  }
}

double RoundClock::hidden_reduce(double ready, double longest) const {
  return ready + std::max(0.0, reducing(model_bytes_) - kBackwardShare * longest);
}

double RoundClock::bucket_by_bucket(const std::vector<double>& step) const {
  double end = 0;
  for (double full = 0; full < model_bytes_;) {
    const double bucket = std::min(bucket_bytes_, model_bytes_ - full);
    full += bucket;
    const double left = kBackwardShare * (1 - full / model_bytes_);  // of the step
    for (std::size_t i = 0; i < step.size(); ++i)
      end = std::max(end, at_[i] + step[i] * (1 - left));
    end += reducing(bucket);
  }
  return end;
}

double RoundClock::reducing(double bytes) const {
  const auto parts = static_cast<double>(at_.size());
  return parts > 1 ? 2 * (parts - 1) * steps_.transfer(bytes / parts) : 0;
}

double RoundClock::seconds() const {
  return *std::ranges::max_element(at_);
}

double RoundClock::bytes() const {
  const auto n = static_cast<double>(at_.size());
  const auto rounds = static_cast<double>(rounds_);
  switch (kind_) {
    case Kind::kApart:
      return 0;
    case Kind::kAllReduce:
      return rounds * 2 * (n - 1) * model_bytes_;
    case Kind::kServer:
      return rounds * 2 * n * model_bytes_;
    case Kind::kNeighbours:
      return rounds * n * topology_.mean_degree() * model_bytes_;
  }
  return 0;
}

}  // namespace fast::compare
