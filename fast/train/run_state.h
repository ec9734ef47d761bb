#pragma once

#include <cstdint>

#include "fast/adapter.h"
#include "fast/checkpoint/saved_state.h"
#include "fast/data/loader.h"
#include "stencil/core/random.h"

namespace fast {

/// What a worker's training loop goes on from, beside model, optimizer and session: where it is in
/// its data, and its random numbers. Attached to the model's adapter while it lives. One thread.
class RunState final : public Resumable {
 public:
  /// All three must outlive this.
  RunState(ModelAdapter& adapter, TrainLoader& loader, stencil::Random& random)
      : adapter_(adapter), loader_(loader), random_(random) {
    adapter_.attach(*this);
  }
  ~RunState() override { adapter_.detach(*this); }
  RunState(const RunState&) = delete;
  RunState& operator=(const RunState&) = delete;

  /// A step is made; its exchange comes next.
  void add_step() { ++steps_; }
  /// Steps of all lives.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

  void save(StateWriter& to) override;
  void load(const StateReader& from) override;

 private:
  ModelAdapter& adapter_;
  TrainLoader& loader_;
  stencil::Random& random_;
  std::uint64_t steps_ = 0;
};

}  // namespace fast
