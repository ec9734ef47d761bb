#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "adapters/c/fast.h"
#include "adapters/flat/flat_adapter.h"
#include "fast/checkpoint/saved_state.h"
#include "fast/momentum.h"

namespace fast::c {

/// The functions given to fast_set_transfers(); null: none.
struct Transfers {
  fast_transfer pull = nullptr, push = nullptr;
  void* context = nullptr;
};

/// Plain memory that may be the host's copy of a device's. Training thread only.
class TransferAdapter final : public ModelAdapter, private Resumable {
 public:
  /// Throws AdapterError.
  TransferAdapter(std::vector<NamedTensor> parameters, std::vector<NamedTensor> buffers,
                  Transfers transfers);

  [[nodiscard]] std::vector<ParameterSlot> parameters() const override {
    return flat_.parameters();
  }
  [[nodiscard]] std::span<float> values() override { return flat_.values(); }
  void pull(std::size_t first, std::size_t count) override;
  void push(std::size_t first, std::size_t count) override;
  /// `momentum`, memory of the type and shape of a parameter, follows the exchange's moves of it;
  /// see FollowingMomentum. Null: none does. Throws ConfigError for a parameter that there is not.
  void follow(std::size_t parameter, void* momentum, const FollowingMomentum::Step& step);
  /// The memory as of the last pull or push.
  [[nodiscard]] std::vector<NamedTensor> state() override { return flat_.state(); }

 private:
  /// What is known of momenta that follow; momentum itself is the caller's.
  void save(StateWriter& to) override;
  void load(const StateReader& from) override;

  FlatAdapter flat_;
  std::vector<ParameterSlot> slots_;
  std::vector<FollowingMomentum> following_;  ///< by parameter
  Transfers transfers_;
};

}  // namespace fast::c
