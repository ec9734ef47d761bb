#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stencil/runtime/pump_status.h"

namespace fast {

/// Notices a neighbour whose link is up and that trains, and with which nothing is averaged while
/// others are averaged with: its model then meets ours by way of these alone, and nobody would see
/// it. Reports each neighbour once. One thread.
class EdgeWatch {
 public:
  static constexpr stencil::Duration kLong = std::chrono::seconds(60);
  /// Sweeps with others meanwhile, for each neighbour, and steps of the one in question.
  static constexpr std::uint64_t kSweeps = 50, kSteps = 50;
  /// Bytes that greetings and heartbeats stay below in that time. A sweep over a thin link sends
  /// more.
  static constexpr std::uint64_t kBytes = 64 * 1024;

  /// `sweeps`: completed with all neighbours. The rank of a neighbour of which that is so, for the
  /// first time.
  [[nodiscard]] std::optional<stencil::Rank> look(
      stencil::TimePoint now, std::uint64_t sweeps,
      const std::vector<stencil::NeighbourStatus>& neighbours);
  /// A log line that names what may have happened, and what helps.
  [[nodiscard]] static std::string advice(stencil::Rank rank);

 private:
  struct Edge {
    stencil::TimePoint since{};
    std::uint64_t of_all = 0, sweeps = 0, step = 0, bytes = 0;  ///< at `since`
    bool told = false;
  };
  std::map<stencil::Rank, Edge> edges_;
};

}  // namespace fast
