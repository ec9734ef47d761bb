#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "stencil/core/random.h"

namespace fast {

/// Room for the values of one array of several examples; see Values.
using ValuesOut = std::variant<std::span<float>, std::span<std::int64_t>>;

/// The examples of a training or a test set, numbered from 0. Adding a kind of data is one of these
/// and a line in dataset.cc. One thread.
class ExampleSet {
 public:
  virtual ~ExampleSet() = default;

  [[nodiscard]] virtual std::size_t size() const = 0;
  /// Of each example its label; 0 where targets are no labels.
  [[nodiscard]] virtual std::vector<std::uint32_t> labels() const = 0;
  /// Writes `count` examples from `first` on as learners get them: normalised and, where `random`
  /// is given and the set knows how, augmented. `inputs` and `targets` have room for as many, of
  /// the types that the set's ExampleSpec says. Throws DataError where a file cannot be read.
  virtual void write(std::size_t first, std::size_t count, stencil::Random* random,
                     const ValuesOut& inputs, const ValuesOut& targets) const = 0;
  /// These examples will be asked for next, most likely: a set that reads slowly may begin.
  virtual void expect(std::span<const std::uint32_t> /*next*/) const {}
  /// Whether all its numbers are known to be finite, as those of images are.
  [[nodiscard]] virtual bool finite() const { return false; }
  /// Of memory that it holds.
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

}  // namespace fast
