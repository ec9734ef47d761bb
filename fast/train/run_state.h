#pragma once

#include <cstdint>

#include "fast/adapter.h"
#include "fast/checkpoint/saved_state.h"
#include "fast/data/loader.h"
#include "stencil/core/random.h"

namespace fast {

/// What a worker's training loop resumes from, beside model, optimizer and session: its position in
/// the data and its random numbers. It is attached to the model's adapter during its lifetime. One
/// thread.
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

  /// Notes a step. Call it before that step's exchange.
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
