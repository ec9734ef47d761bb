#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "fast/adapter.h"
#include "fast/checkpoint/saved_state.h"
#include "fast/model/staged_memory.h"

namespace fast {

/// A model's arrays of Role::kAveraged: each worker's own in training, and the mean over workers at
/// the end. BatchNorm's running statistics follow the worker's own batches, and neighbours cannot
/// average them at every step, since each batch would pull them apart again.
///
/// Each array has a slot in the values that are exchanged (parameters() says how it is called).
/// Slots stand still in training. When training is over, each worker adds what its own array has
/// become since the slot was last set by others:
///
///     slot += own - base        (base: the slot's value then)
///
/// so that the mean over slots becomes the mean of the arrays, whoever finishes first. When all
/// agree, the arrays are set to the slots; who ends without agreement keeps its own. The slots of
/// all workers are equal until then, since all begin with the values of rank 0. Whose slots a
/// neighbour's model has replaced sets its arrays to them: to rank 0's before the first step, to
/// what others have found by then near the end, and in between they are the same.
///
/// Attach it to the adapter (ModelAdapter::attach()). Training thread only.
class AveragedAtEnd final : public Resumable {
 public:
  /// `arrays`, of F32, F64, F16 or BF16, belong to the caller; call move() where one moves. Slots
  /// begin with their values. They lie at `memory`, a float for each element, or, where that is
  /// null, in memory of its own. Throws AdapterError for another type.
  explicit AveragedAtEnd(std::vector<NamedTensor> arrays, float* memory = nullptr);

  /// The slots, as parameters of an adapter: an array's name after "mean of ".
  [[nodiscard]] std::vector<NamedTensor> slots();
  [[nodiscard]] bool empty() const { return arrays_.empty(); }
  /// Array `index` lies at `bytes` from now on. Throws AdapterError where its size is another.
  void move(std::size_t index, std::span<std::byte> bytes);

  void save(StateWriter& to) override;
  void load(const StateReader& from) override;
  void model_replaced() override;
  bool finishing() override;
  void finished(bool agreed) override;

 private:
  void take_slots();

  std::vector<NamedTensor> arrays_;
  StagedMemory own_;
  std::vector<float> bases_, memory_;
  std::span<float> slots_;
  bool added_ = false;  ///< what the arrays have become, to the slots
};

}  // namespace fast
