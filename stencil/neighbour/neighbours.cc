#include "stencil/neighbour/neighbours.h"

#include <algorithm>
#include <string>

#include "stencil/core/error.h"

namespace stencil {
namespace {

InvariantError missing(Rank rank) {
  return InvariantError("Neighbours::at(" + std::to_string(rank) + ")");
}

}  // namespace

Neighbour& Neighbours::add(const Place& place) {
  const bool taken = place.turn < in_turn_.size() && in_turn_[place.turn] != nullptr;
  if (by_rank_.contains(place.rank) || taken) {
    throw InvariantError("Neighbours::add(): rank " + std::to_string(place.rank) +
                         " is there already, or its turn is another's");
  }
  auto made = std::make_unique<Neighbour>(place.rank);
  made->weight = place.weight;
  Neighbour* const neighbour = made.get();
  const auto after =
      std::ranges::find_if(list_, [&](const auto& other) { return other->rank > place.rank; });
  list_.insert(after, std::move(made));
  by_rank_.emplace(place.rank, neighbour);
  if (place.turn != Place::kNoTurn) {
    in_turn_.resize(std::max(in_turn_.size(), place.turn + 1));
    in_turn_[place.turn] = neighbour;
  }
  return *neighbour;
}

void Neighbours::set_turns(std::size_t turns) {
  while (in_turn_.size() > turns && in_turn_.back() == nullptr) in_turn_.pop_back();
  in_turn_.resize(std::max(in_turn_.size(), turns));
}

void Neighbours::free_turn(const Neighbour& neighbour) {
  const auto turn = std::ranges::find(in_turn_, &neighbour);
  if (turn != in_turn_.end()) *turn = nullptr;
}

void Neighbours::remove(Rank rank) {
  free_turn(at(rank));
  by_rank_.erase(rank);
  std::erase_if(list_, [rank](const auto& neighbour) { return neighbour->rank == rank; });
}

Neighbour* Neighbours::find(Rank rank) {
  const auto it = by_rank_.find(rank);
  return it == by_rank_.end() ? nullptr : it->second;
}

const Neighbour* Neighbours::find(Rank rank) const {
  const auto it = by_rank_.find(rank);
  return it == by_rank_.end() ? nullptr : it->second;
}

Neighbour& Neighbours::at(Rank rank) {
  Neighbour* const neighbour = find(rank);
  if (neighbour == nullptr) throw missing(rank);
  return *neighbour;
}

const Neighbour& Neighbours::at(Rank rank) const {
  const Neighbour* const neighbour = find(rank);
  if (neighbour == nullptr) throw missing(rank);
  return *neighbour;
}

std::vector<Place> Neighbours::places() const {
  std::vector<Place> out;
  for (const Neighbour& neighbour : *this) {
    const auto turn = std::ranges::find(in_turn_, &neighbour);
    const std::size_t at = static_cast<std::size_t>(turn - in_turn_.begin());
    out.push_back({.rank = neighbour.rank,
                   .turn = turn == in_turn_.end() ? Place::kNoTurn : at,
                   .weight = neighbour.weight});
  }
  return out;
}

}  // namespace stencil
