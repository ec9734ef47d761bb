#pragma once

#include "adapters/c/fast.h"
#include "fast/checkpoint/saved_state.h"

namespace fast::c {

/// What the caller of fast.h keeps in checkpoints beside the model, by the functions given to
/// fast_set_state(). Null functions: nothing.
class CallerState final : public Resumable {
 public:
  CallerState() = default;
  CallerState(fast_save_state save, fast_load_state load, void* context)
      : save_(save), load_(load), context_(context) {}

  /// Throws AdapterError where the caller's function fails.
  void save(StateWriter& to) override;
  /// Does nothing where the checkpoint holds none. Throws FileError where the caller refuses it.
  void load(const StateReader& from) override;

 private:
  fast_save_state save_ = nullptr;
  fast_load_state load_ = nullptr;
  void* context_ = nullptr;
};

}  // namespace fast::c
