// Workers of a simulation that come and go.
#include <algorithm>
#include <utility>

#include "stencil/sim/simulated_worker.h"

namespace stencil::sim {

/// The first turn that is free at both ends, which must use the same one.
std::size_t Simulation::free_turn(Rank a, Rank b) const {
  const auto taken = [this](Rank rank, std::size_t turn) {
    return std::ranges::find(places_[rank], turn, &Place::turn) != places_[rank].end();
  };
  std::size_t turn = 0;
  while (taken(a, turn) || taken(b, turn)) ++turn;
  return turn;
}

Rank Simulation::add(const std::vector<Rank>& neighbours) {
  const Rank rank = size();
  network_->add();
  workers_.emplace_back();
  places_.emplace_back();
  for (const Rank other : neighbours) {
    const std::size_t meet = free_turn(rank, other);
    places_[rank].push_back({.rank = other, .turn = meet});
    places_[other].push_back({.rank = rank, .turn = meet});
    workers_[other]->pump->add(now_, places_[other].back());
    turn(*workers_[other]);
  }
  // As a second life, so that it copies a neighbour.
  make(rank, 2);
  return rank;
}

void Simulation::remove(Rank rank) {
  for (const Place& place : std::exchange(places_[rank], {})) {
    std::erase_if(places_[place.rank], [rank](const Place& p) { return p.rank == rank; });
    workers_[place.rank]->pump->remove(now_, rank);
    workers_[rank]->pump->remove(now_, place.rank);
    turn(*workers_[place.rank]);
  }
  turn(*workers_[rank]);
}

void Simulation::kill(Rank rank, Death how) {
  workers_[rank]->alive = false;
  if (how == Death::kProcess) network_->end(rank);
  // Otherwise its next life would end the step that this life was in.
  agenda_.end_life(rank);
}

bool Simulation::alive(Rank rank) const {
  return workers_[rank]->alive;
}

Saved Simulation::save(Rank rank) const {
  return {.x = workers_[rank]->x, .telemetry = workers_[rank]->telemetry};
}

void Simulation::restart(Rank rank, const Saved* saved) {
  const std::uint64_t generation = workers_[rank]->generation + 1;
  while (network_->transport(rank).receive()) {
  }
  network_->come_back(rank);
  make(rank, generation, saved);
}

void Simulation::thaw(Worker& worker) {
  if (!worker.still) return;
  worker.still = false;
  for (const TimePoint due : std::exchange(worker.owed, {})) {
    agenda_.add(now_ + (due - worker.still_since), worker.rank, What::kStep);
  }
  worker.next_turn = kNever;
  turn(worker);
  proceed(worker);
}

}  // namespace stencil::sim
