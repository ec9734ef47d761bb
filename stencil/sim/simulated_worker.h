#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "stencil/core/random.h"
#include "stencil/runtime/step_boundary.h"
#include "stencil/sim/direct_meeting.h"
#include "stencil/sim/simulator.h"

namespace stencil::sim {

/// What the simulation keeps of one worker.
struct Simulation::Worker {
  Rank rank = kNoRank;
  bool alive = true;
  std::vector<float> x;     ///< the model, with the part of the present step that is folded
  std::vector<float> next;  ///< x at the end of the step in progress
  std::size_t taken = 0;    ///< x has the values of `next` from here on
  std::vector<double> telemetry;
  std::unique_ptr<Mixer> mixer;
  std::unique_ptr<DirectMeeting> meeting;  ///< null: shares with nobody
  std::unique_ptr<Pump> pump;
  bool stepping = false;       ///< a local step is in progress
  double length = 0;           ///< of that step, seconds
  std::uint64_t taken_in = 0;  ///< parts of the model that it has taken in
  bool awaits_part = false;    ///< it waits for what the next one is to take in
  std::uint64_t parts = 0;     ///< parts of that step that are ready
  std::optional<StepBoundary> boundary;
  bool frozen = false;
  bool still = false;           ///< see Freeze
  TimePoint still_since{};      ///< the present or last freeze
  std::vector<TimePoint> owed;  ///< when the parts of a step were due that it stood still at
  std::uint64_t generation = 1;
  TimePoint made{};
  TimePoint next_turn = kNever;
  Random random{0};

  /// Sets x from `begin` on to the values at the end of the step in progress.
  void take(std::size_t begin) {
    const std::span<const float> left = std::span(next).subspan(begin, taken - begin);
    std::ranges::copy(left, std::span(x).subspan(begin).begin());
    taken = begin;
  }
};

}  // namespace stencil::sim
