// Workers of a simulation that come and go.
#include <algorithm>
#include <utility>

#include "stencil/runtime/engine_config.h"
#include "stencil/sim/simulated_worker.h"

namespace stencil::sim {

Rank Simulation::add(const std::vector<Rank>& neighbours) {
  const Rank rank = size();
  grid_.add(rank, neighbours);
  network_->add();
  workers_.emplace_back();
  for (const Place& place : grid_.places(rank)) {
    Worker& other = *workers_[place.rank];
    other.pump->add(now_, {.rank = rank, .turn = place.turn, .weight = place.weight});
    turn(other);
  }
  follow_grid();
  // As a second life, so that it copies a neighbour.
  make(rank, 2);
  return rank;
}

void Simulation::remove(Rank rank) {
  const std::vector<Place> places = grid_.places(rank);
  grid_.remove(rank);
  for (const Place& place : places) {
    workers_[place.rank]->pump->remove(now_, rank);
    workers_[rank]->pump->remove(now_, place.rank);
    turn(*workers_[place.rank]);
  }
  turn(*workers_[rank]);
  follow_grid();
}

void Simulation::follow_grid() {
  const GridFigures figures = figures_of(grid_, config_.exchange);
  for (const auto& worker : workers_) {
    if (!worker || !worker->alive || !grid_.contains(worker->rank)) continue;
    worker->pump->follow(now_, figures);
    worker->pump->set_settle_threshold(settle_threshold());
    turn(*worker);
  }
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
