#pragma once

#include <cstdint>
#include <set>

#include "stencil/engine/engine.h"
#include "stencil/runtime/data_cap.h"
#include "stencil/runtime/edge.h"
#include "stencil/runtime/executor.h"
#include "stencil/transport/transport.h"

namespace stencil {

/// Keeps a worker within its data allowance. Whoever is ahead of it begins sweeps more rarely; who
/// is far ahead, or has used all of it, leaves the neighbours that it reaches over the network, as
/// one that will come back, and greets them anew when it may. Neighbours in shared memory notice
/// nothing. One thread.
class Allowance {
 public:
  /// `sweeps`: per step, in thousandths, see GridFigures. The rest must outlive it.
  Allowance(DataCap cap, std::uint32_t sweeps, Engine& engine, Edges& edges, Transport& transport)
      : cap_(cap), sweeps_(sweeps), engine_(engine), edges_(edges), transport_(transport) {}

  /// Looks at what was used. Returns when to call it again at the latest.
  TimePoint heed(TimePoint now, Executor& executor, Actions& actions);
  /// The grid has changed; its figures at the present pace.
  [[nodiscard]] GridFigures follow(GridFigures grid);

  [[nodiscard]] const DataCap& cap() const { return cap_; }
  [[nodiscard]] bool rests() const { return rests_; }
  /// Whether this worker has left that neighbour, to greet it when the rest is over.
  [[nodiscard]] bool parted(Rank rank) const { return parted_.contains(rank); }

 private:
  [[nodiscard]] std::uint32_t paced() const;
  void part(TimePoint now, Executor& executor, Actions& actions);
  void come_back(TimePoint now, Executor& executor, Actions& actions);

  DataCap cap_;
  std::uint32_t sweeps_;
  Engine& engine_;
  Edges& edges_;
  Transport& transport_;
  TimePoint look_at_{};
  bool rests_ = false;
  std::set<Rank> parted_;  ///< to be greeted when the rest is over
};

}  // namespace stencil
