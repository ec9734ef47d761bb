#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "stencil/core/topology.h"
#include "stencil/engine/self.h"

namespace stencil::test {

/// What the parts of an engine share, for a test of one of them: rank 0 of a topology, which
/// trains, as all its neighbours do.
struct LoneSelf {
  explicit LoneSelf(const std::string& topology, const std::string& mode = "async",
                    std::uint32_t buckets = 3)
      : self(config_of(topology, mode, buckets), neighbours) {
    for (const Place& place : self.config.neighbours) {
      Neighbour& neighbour = neighbours.add(place);
      neighbour.state = LinkState::kUp;
      neighbour.has_link = true;
      neighbour.life.acknowledged = neighbour.life.ever_heard = true;
      neighbour.life.our_epoch = neighbour.life.their_epoch = 1;
      neighbour.report.state = WorkerState::kTraining;
    }
    self.state = WorkerState::kTraining;
  }

  Neighbour& at(Rank rank) { return neighbours.at(rank); }
  void step_to(std::uint64_t step) { self.steps.note(now, step); }
  void they_step_to(Rank rank, std::uint64_t step) { at(rank).report.steps.note(now, step); }
  void pass(std::chrono::milliseconds time) { now += time; }
  /// Those of one kind, since the last call.
  template <typename Kind>
  std::vector<Kind> done() {
    std::vector<Kind> of_kind;
    for (Action& action : std::exchange(out, {})) {
      if (auto* const found = std::get_if<Kind>(&action)) of_kind.push_back(std::move(*found));
    }
    return of_kind;
  }

  TimePoint now = TimePoint{} + std::chrono::hours(1);
  Actions out;
  Neighbours neighbours;
  Self self;

 private:
  static EngineConfig config_of(const std::string& topology, const std::string& mode,
                                std::uint32_t buckets) {
    EngineConfig config;
    config.stand(Topology::parse(topology), 0);
    config.mode = Mode::parse(mode);
    config.buckets = buckets;
    return config;
  }
};

}  // namespace stencil::test
