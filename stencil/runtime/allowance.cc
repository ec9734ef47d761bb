#include "stencil/runtime/allowance.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace stencil {
namespace {

constexpr Duration kLookEvery = std::chrono::milliseconds(500);
/// The pace follows in steps of this share, so that it does not change all the time.
constexpr double kPaceStep = 0.05;

}  // namespace

TimePoint Allowance::heed(TimePoint now, Executor& executor, Actions& actions) {
  if (!cap_.caps()) return kNever;
  const TransportStats stats = transport_.stats();
  const std::uint64_t bytes = stats.bytes_sent + stats.bytes_received;
  if (now < look_at_ && !cap_.much_since(bytes)) return look_at_;
  look_at_ = now + kLookEvery;
  cap_.advance(now, bytes);
  if (cap_.must_rest(rests_)) {
    rests_ = true;
    part(now, executor, actions);
  } else if (rests_) {
    rests_ = false;
    come_back(now, executor, actions);
  }
  GridFigures grid = engine_.config().grid;
  const std::uint32_t sweeps = paced();
  if (sweeps != grid.sweeps_per_mille) {
    grid.sweeps_per_mille = sweeps;
    engine_.on_grid(now, grid, actions);
    executor.run(actions);
  }
  return look_at_;
}

GridFigures Allowance::follow(GridFigures grid) {
  sweeps_ = grid.sweeps_per_mille;
  grid.sweeps_per_mille = paced();
  return grid;
}

std::uint32_t Allowance::paced() const {
  const double pace = std::ceil(cap_.pace() / kPaceStep) * kPaceStep;
  return static_cast<std::uint32_t>(std::lround(sweeps_ * std::min(1.0, pace)));
}

/// Also whoever has greeted this worker since.
void Allowance::part(TimePoint now, Executor& executor, Actions& actions) {
  for (auto& [rank, edge] : edges_) {
    if (!edge.neighbour.up() || edge.neighbour.shared || edge.neighbour.retiring) continue;
    parted_.insert(rank);
    engine_.say_good_bye(now, rank, actions, Leave{.paused = true});
    executor.run(actions);
  }
}

void Allowance::come_back(TimePoint now, Executor& executor, Actions& actions) {
  for (const Rank rank : parted_) {
    const auto edge = edges_.find(rank);
    if (edge == edges_.end() || !edge->second.neighbour.has_link) continue;
    if (edge->second.neighbour.state != LinkState::kLeft) continue;
    engine_.on_link_down(now, rank, actions);
    engine_.on_link_up(now, rank, actions);
    executor.run(actions);
  }
  parted_.clear();
}

}  // namespace stencil
