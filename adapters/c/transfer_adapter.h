#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "adapters/c/fast.h"
#include "adapters/flat/flat_adapter.h"
#include "fast/checkpoint/saved_state.h"
#include "fast/model/averaged_at_end.h"
#include "fast/momentum.h"

namespace fast::c {

/// The functions given to fast_set_transfers(); null: none.
struct Transfers {
  fast_transfer pull = nullptr, push = nullptr;
  void* context = nullptr;
};

/// The arrays of fast_array(), plain memory that may be the host's copy of a device's. Training
/// thread only.
class TransferAdapter final : public ModelAdapter, private Resumable {
 public:
  /// `averages`: see fast_set_averages(). Throws AdapterError.
  TransferAdapter(std::vector<NamedTensor> arrays, Transfers transfers, float* averages);

  /// The trained arrays, then the slots of the averaged ones.
  [[nodiscard]] std::vector<ParameterSlot> parameters() const override { return slots_; }
  [[nodiscard]] std::span<float> values() override { return flat_.values(); }
  void pull(std::size_t first, std::size_t count) override;
  void push(std::size_t first, std::size_t count) override;
  [[nodiscard]] bool in_place() const override;
  /// The arrays, in their order, and their aliases, as of the last pull or push.
  [[nodiscard]] std::vector<NamedTensor> state() override;

  // These throw ConfigError for an array that there is not.
  /// Model files have array `index` under this name, too.
  void alias(std::string name, std::size_t index);
  /// Array `index` lies at `memory` from now on.
  void move(std::size_t index, void* memory);
  /// `momentum`, memory of the type and shape of trained array `index`, follows the exchange's
  /// moves of it; see FollowingMomentum. Null: none does.
  void follow(std::size_t index, void* momentum, const FollowingMomentum::Step& step);

 private:
  [[nodiscard]] static std::vector<NamedTensor> of_role(const std::vector<NamedTensor>& arrays,
                                                        Role role);
  [[nodiscard]] std::vector<NamedTensor> exchanged();
  /// How many come before it of its role; throws ConfigError where there is no array `index`.
  [[nodiscard]] std::size_t place_in_role(std::size_t index) const;
  void transfer(fast_transfer how, const char* which, std::size_t first, std::size_t count) const;

  /// What is known of momenta that follow; momentum itself is the caller's.
  void save(StateWriter& to) override;
  void load(const StateReader& from) override;

  std::vector<NamedTensor> arrays_;
  std::vector<std::pair<std::string, std::size_t>> aliases_;  ///< name, index
  AveragedAtEnd averaged_;
  FlatAdapter flat_;
  std::vector<ParameterSlot> slots_;          ///< parameters()
  std::vector<std::size_t> places_;           ///< in their role, by array
  std::size_t trained_ = 0;                   ///< elements of trained arrays
  std::vector<FollowingMomentum> following_;  ///< by trained array
  Transfers transfers_;
};

}  // namespace fast::c
