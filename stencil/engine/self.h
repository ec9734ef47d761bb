#pragma once

#include <cstdint>
#include <utility>

#include "stencil/core/message.h"
#include "stencil/engine/action.h"
#include "stencil/engine/config.h"
#include "stencil/engine/counters.h"
#include "stencil/neighbour/neighbours.h"

namespace stencil {

/// What the parts of an engine share: the worker's configuration, its neighbours, its state, and
/// how it sends messages. One thread.
class Self {
 public:
  Self(EngineConfig what, Neighbours& whom) : config(std::move(what)), neighbours(whom) {
    note_progress(std::exchange(config.hello.progress, 0));
    config.hello.initial_rank = config.trained ? kNoRank : config.rank;
    config.hello.terms = hashes_of(config.terms);
  }

  EngineConfig config;
  Neighbours& neighbours;
  WorkerState state = WorkerState::kJoining;
  Steps steps;                     ///< the worker's own
  std::uint32_t settled_hops = 0;  ///< see Ending
  std::uint64_t first_batch = 0;   ///< see Heartbeat
  EngineCounters counters;

  [[nodiscard]] std::uint64_t step() const { return steps.count; }
  [[nodiscard]] bool training() const { return state == WorkerState::kTraining; }
  /// Whether it has made no step, in this life or before, that counts.
  [[nodiscard]] bool untrained() const { return config.hello.progress == 0 && step() == 0; }
  [[nodiscard]] bool in_lock_step() const { return config.mode.kind == Mode::Kind::kSync; }
  [[nodiscard]] std::uint32_t telemetry() const { return config.buckets - 1; }

  /// Notes the progress of the model. Ignores a progress too small to put any worker far behind.
  void note_progress(double progress) {
    if (is_progress(progress)) config.hello.progress = progress;
  }
  [[nodiscard]] bool is_progress(double progress) const {
    return progress >= config.behind_steps && progress > config.hello.progress;
  }

  /// Writes the worker's present state into a header; `to` is null for a receiver that is not a
  /// neighbour.
  void stamp(MessageHeader& header, const Neighbour* to);
  [[nodiscard]] Message message(const Neighbour* to, MessageBody body);
  void send(TimePoint now, Neighbour& to, MessageBody body, Actions& out);
  void heartbeat(TimePoint now, Neighbour& to, Actions& out) {
    const bool changed = config.grid.version > 0 || to.report.grid != 0;
    send(now, to, Heartbeat{first_batch, changed ? config.grid.hash : 0}, out);
  }
  void heartbeat_all(TimePoint now, Actions& out);

  /// See Engine::fields().
  template <typename A, typename T>
  static void fields(A& a, T& v) {
    a(v.config.hello, v.state, v.steps, v.settled_hops, v.first_batch, v.counters, v.numbered_);
  }

 private:
  std::uint64_t numbered_ = 0;  ///< messages stamped
};

}  // namespace stencil
