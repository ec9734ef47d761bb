#include "fast/session/patience.h"

#include <algorithm>
#include <utility>

namespace fast {
namespace {

using stencil::WorkerState;

/// After so long a wait that others are the cause of, the user is told of them.
constexpr stencil::Duration kWorthALine = std::chrono::seconds(5);

bool at_work(const stencil::NeighbourStatus& neighbour) {
  return neighbour.link == stencil::LinkState::kUp &&
         (neighbour.state == WorkerState::kTraining || neighbour.state == WorkerState::kJoining);
}

}  // namespace

Patience::Patience(double deadline, double busy, stencil::TimePoint now)
    : deadline_(stencil::seconds(deadline)),
      busy_(stencil::seconds(busy)),
      begun_(now),
      quiet_since_(now),
      moved_(now) {}

Patience::Patience(stencil::TimePoint now)
    : deadline_(stencil::Duration::max()),
      busy_(stencil::Duration::max()),
      begun_(now),
      quiet_since_(now),
      moved_(now) {}

/// FNV-1a over states, links and steps.
std::uint64_t Patience::signs(const stencil::PumpStatus& status) {
  std::uint64_t hash = 14695981039346656037U;
  const auto add = [&hash](std::uint64_t value) { hash = (hash ^ value) * 1099511628211U; };
  add(static_cast<std::uint64_t>(status.state));
  for (const stencil::NeighbourStatus& neighbour : status.neighbours) {
    add(static_cast<std::uint64_t>(neighbour.link) << 8 |
        static_cast<std::uint64_t>(neighbour.state));
    add(neighbour.step);
  }
  return hash;
}

bool Patience::over(stencil::TimePoint now, const stencil::PumpStatus& status) {
  if (std::exchange(signs_, signs(status)) != signs_) moved_ = now;
  const bool others_work = status.state == WorkerState::kSettled || status.awaits ||
                           std::ranges::any_of(status.neighbours, at_work);
  if (others_work && now - moved_ < busy_) quiet_since_ = now;
  return now - quiet_since_ >= deadline_;
}

bool Patience::worth_a_line(stencil::TimePoint now) {
  if (logged_ || now - begun_ < kWorthALine) return false;
  return logged_ = true;
}

}  // namespace fast
