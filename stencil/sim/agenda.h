#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <tuple>
#include <vector>

#include "stencil/core/types.h"

namespace stencil::sim {

/// What a simulated worker is about to do.
enum class What : std::uint8_t { kTurn, kStep, kFreeze, kThaw };

struct Due {
  TimePoint when;
  std::uint64_t order = 0;  ///< what was added first comes first, at one time
  Rank rank = kNoRank;
  What what = What::kTurn;

  friend bool operator<(const Due& a, const Due& b) {
    return std::tie(b.when, b.order) < std::tie(a.when, a.order);
  }
};

/// What all workers are about to do, by time.
class Agenda {
 public:
  void add(TimePoint when, Rank rank, What what) {
    due_.push_back({when, order_++, rank, what});
    std::ranges::push_heap(due_, std::less<>());
  }
  /// When the first is due; kNever: nothing is.
  [[nodiscard]] TimePoint next() const { return due_.empty() ? kNever : due_.front().when; }
  /// Takes the first, where it is due by `now`.
  [[nodiscard]] std::optional<Due> take(TimePoint now) {
    if (next() > now) return std::nullopt;
    std::ranges::pop_heap(due_, std::less<>());
    const Due due = due_.back();
    due_.pop_back();
    return due;
  }
  /// Drops what a life of the worker was about to do. What is done to it from outside stays.
  void end_life(Rank rank) {
    std::erase_if(due_, [rank](const Due& due) {
      return due.rank == rank && (due.what == What::kTurn || due.what == What::kStep);
    });
    std::ranges::make_heap(due_, std::less<>());
  }

 private:
  std::vector<Due> due_;  ///< a heap
  std::uint64_t order_ = 0;
};

}  // namespace stencil::sim
