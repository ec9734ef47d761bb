#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fast/data/batch.h"
#include "fast/data/dataset.h"
#include "stencil/core/random.h"

namespace fast {

/// Endless shuffled batches of a shard, augmented and normalised. One thread; allocates only at
/// construction. Every pass visits each example once, in a new order.
class TrainLoader {
 public:
  /// `data` must outlive the loader; `shard` holds indices into data.train. Throws DataError for an
  /// empty shard. A shard smaller than a batch is visited several times within one batch.
  TrainLoader(const Dataset& data, std::vector<std::uint32_t> shard, std::size_t batch,
              std::uint64_t seed);

  /// The next `batch` examples, across pass boundaries: always exactly `batch` of them.
  Batch next();

  /// The same without augmentation (for BatchNorm re-estimation).
  Batch next_plain();

  /// All that future batches depend on, except data and batch size.
  struct State {
    std::vector<std::uint32_t> order;  ///< the shard, in the order of this pass
    std::uint64_t position = 0;        ///< examples of this pass returned so far
    std::uint64_t random = 0;
  };
  [[nodiscard]] State state() const { return {shard_, position_, random_.state()}; }
  /// Returns false, and changes nothing, where `state` is of another shard.
  [[nodiscard]] bool resume(const State& state);

 private:
  Batch fill(bool augment);
  void shuffle();

  const Dataset& data_;
  std::vector<std::uint32_t> shard_;
  std::size_t batch_;
  std::size_t position_ = 0;
  stencil::Random random_;
  std::vector<float> images_;
  std::vector<std::int64_t> labels_;
};

/// One pass over an image set in order, unaugmented; the last batch may be shorter.
class TestLoader {
 public:
  TestLoader(const Dataset& data, const ImageSet& images, std::size_t batch);
  /// False when the pass is over (the next call begins a new one). Throws DataError for a set that
  /// is read from a file (ImageSet::read).
  bool next(Batch& out);

 private:
  const Dataset& data_;
  const ImageSet& set_;
  std::size_t batch_;
  std::size_t position_ = 0;
  std::vector<std::uint8_t> bytes_;  ///< of images that are read from a file
  std::vector<float> images_;
  std::vector<std::int64_t> labels_;
};

}  // namespace fast
