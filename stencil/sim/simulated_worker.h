#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "stencil/core/random.h"
#include "stencil/runtime/boundary.h"
#include "stencil/runtime/step_boundary.h"
#include "stencil/sim/direct_meeting.h"
#include "stencil/sim/simulator.h"

namespace stencil::sim {

/// What the simulation keeps of one worker.
struct Simulation::Worker {
  Rank rank = kNoRank;
  bool alive = true;
  std::vector<float> x;     ///< of the step under way, what is made and folded
  std::vector<float> next;  ///< x as that step will leave it
  std::size_t taken = 0;    ///< first value of next that x has
  std::vector<double> telemetry;
  std::unique_ptr<Mixer> mixer;
  std::unique_ptr<DirectMeeting> meeting;  ///< null: shares with nobody
  std::unique_ptr<Pump> pump;
  bool waiting = false;     ///< at a boundary it may not pass yet
  bool published = false;   ///< lock-step: waits for its round to complete
  bool stepping = false;    ///< a local step is under way
  std::uint64_t parts = 0;  ///< of it that are made
  Boundary boundary{0, 0};
  std::optional<StepBoundary> steps;
  bool frozen = false;
  std::uint64_t adopted = 0;  ///< models of neighbours that x has taken over
  std::uint64_t generation = 1;
  TimePoint next_turn = kNever;
  Random random{0};

  /// Values from `begin` on are as the step under way leaves them.
  void take(std::size_t begin) {
    const std::span<const float> left = std::span(next).subspan(begin, taken - begin);
    std::ranges::copy(left, std::span(x).subspan(begin).begin());
    taken = begin;
  }
};

}  // namespace stencil::sim
