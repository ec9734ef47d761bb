#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "fast/data/batch.h"
#include "fast/data/dataset.h"
#include "stencil/core/random.h"

namespace fast {

/// Room for a batch.
class BatchBuffers {
 public:
  BatchBuffers(const ExampleSpec& spec, std::size_t examples);

  /// Room for `count` examples from place `first` on.
  [[nodiscard]] ValuesOut inputs(std::size_t first, std::size_t count) {
    return inputs_.of(first, count);
  }
  [[nodiscard]] ValuesOut targets(std::size_t first, std::size_t count) {
    return targets_.of(first, count);
  }
  /// The first `count` examples.
  [[nodiscard]] Batch batch(std::size_t count);
  /// Whether the numbers of `count` examples from place `first` on are finite.
  [[nodiscard]] bool finite(std::size_t first, std::size_t count);

 private:
  struct Array {
    Array(const ArraySpec& spec, std::size_t examples);
    [[nodiscard]] ValuesOut of(std::size_t first, std::size_t count);

    std::size_t each;  ///< values
    std::variant<std::vector<float>, std::vector<std::int64_t>> values;
  };
  Array inputs_, targets_;
};

/// Examples that a loader has left out, since they hold NaN or infinity.
struct LeftOutExamples {
  std::uint64_t count = 0;  ///< one that comes in several passes counts in each
  std::size_t first = 0;    ///< the number of the first of them
};

/// Endless shuffled batches of a shard, augmented and normalised. One thread; allocates only at
/// construction. Every pass visits each example once, in a new order, and leaves out those that
/// hold NaN or infinity.
class TrainLoader {
 public:
  /// `shard` holds indices into data.train, which the loader shares. Throws DataError for an empty
  /// shard. A shard smaller than a batch is visited several times within one batch.
  TrainLoader(const Dataset& data, std::vector<std::uint32_t> shard, std::size_t batch,
              std::uint64_t seed);

  /// The next `batch` examples, across pass boundaries: always exactly `batch` of them. Throws
  /// DataError where no example of the shard is finite.
  Batch next();

  /// The same without augmentation (for BatchNorm re-estimation).
  Batch next_plain();

  [[nodiscard]] const LeftOutExamples& left_out() const { return left_out_; }

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
  /// Example `number` is left out, as `in_a_row` before it were.
  void leave_out(std::uint32_t number, std::size_t in_a_row);

  std::shared_ptr<const ExampleSet> examples_;
  std::vector<std::uint32_t> shard_;
  std::size_t batch_;
  std::size_t position_ = 0;
  stencil::Random random_;
  BatchBuffers buffers_;
  LeftOutExamples left_out_;
};

/// One pass over a set of examples in order, or over a part that is evenly spread, unaugmented,
/// without those that hold NaN or infinity; batches may be shorter for that, and the last one.
class TestLoader {
 public:
  /// `examples`: data.test or data.train, which the loader shares. `most`: of them; 0: all.
  TestLoader(const Dataset& data, std::shared_ptr<const ExampleSet> examples, std::size_t batch,
             std::size_t most = 0);
  /// The examples of one pass, with those that are left out.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// False when the pass is over (the next call begins a new one). Throws DataError where a file
  /// cannot be read.
  bool next(Batch& out);

 private:
  /// Writes the example at `position` of the pass to `place`. False: it is not finite.
  bool write(std::size_t position, std::size_t place);
  /// The number of the example at a position of the pass.
  [[nodiscard]] std::size_t example(std::size_t position) const;
  void expect_next();

  std::shared_ptr<const ExampleSet> examples_;
  std::size_t size_, batch_;
  std::size_t position_ = 0;
  std::vector<std::uint32_t> next_;
  BatchBuffers buffers_;
};

}  // namespace fast
