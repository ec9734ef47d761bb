#include "stencil/engine/rounds.h"

#include <algorithm>

namespace stencil {

void Rounds::complete(TimePoint now) {
  completed_ = puller_.plan().round();
  self_.steps.note(now, completed_);
  puller_.plan().stop();
}

void Rounds::on_published(TimePoint now, std::uint64_t round, Actions& out) {
  published_ = round;
  sources_.clear();
  for (const Neighbour& neighbour : self_.neighbours) sources_.push_back(neighbour.rank);
  puller_.plan().start(round, sources_);
  if (puller_.plan().finished()) complete(now);
  for (const Parked& parked : parked_) {
    const bool there = self_.neighbours.find(parked.rank) != nullptr;
    if (!there || parked.pull.round != round) continue;
    out.push_back(action::Serve{parked.rank, parked.pull.bucket, parked.pull.round});
  }
  parked_.clear();
}

void Rounds::on_pull(Neighbour& neighbour, const Pull& pull, Actions& out) {
  if (pull.bucket >= self_.config.buckets) return;
  if (pull.round > published_) {
    const auto waiting = std::ranges::count(parked_, neighbour.rank, &Parked::rank);
    if (waiting < static_cast<std::ptrdiff_t>(self_.config.window)) {
      parked_.push_back({neighbour.rank, pull});
    }
    return;
  }
  if (pull.round != published_) {
    ++self_.counters.duplicates;
    return;
  }
  out.push_back(action::Serve{neighbour.rank, pull.bucket, pull.round});
}

bool Rounds::on_snapshot(TimePoint now, Neighbour& neighbour, const Snapshot& snapshot,
                         Actions& out) {
  out.push_back(action::Absorb{neighbour.rank, snapshot});
  if (!puller_.plan().finished()) return false;
  complete(now);
  return true;
}

bool Rounds::neighbours_completed(std::uint64_t round) const {
  return std::all_of(
      self_.neighbours.begin(), self_.neighbours.end(),
      [&](const Neighbour& neighbour) { return neighbour.report.steps.count >= round; });
}

}  // namespace stencil
