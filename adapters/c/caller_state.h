#pragma once

#include "adapters/c/fast.h"
#include "fast/checkpoint/saved_state.h"

namespace fast::c {

/// What the caller of fast.h keeps in checkpoints beside the arrays, by the functions given to
/// fast_set_state(), and how it hears that its model was replaced. Null functions: not at all.
class CallerState final : public Resumable {
 public:
  void keep(fast_save_state save, fast_load_state load, void* context) {
    save_ = save;
    load_ = load;
    context_ = context;
  }
  void tell(fast_model_replaced replaced, void* context) {
    replaced_ = replaced;
    told_ = context;
  }

  /// Throws AdapterError where the caller's function fails.
  void save(StateWriter& to) override;
  /// Does nothing where the checkpoint holds none. Throws FileError where the caller refuses it.
  void load(const StateReader& from) override;
  void model_replaced() override {
    if (replaced_ != nullptr) replaced_(told_);
  }

 private:
  fast_save_state save_ = nullptr;
  fast_load_state load_ = nullptr;
  void* context_ = nullptr;
  fast_model_replaced replaced_ = nullptr;
  void* told_ = nullptr;  ///< the context of replaced_
};

}  // namespace fast::c
