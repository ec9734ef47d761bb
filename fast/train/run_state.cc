#include "fast/train/run_state.h"

#include <span>

#include "fast/errors.h"

namespace fast {
namespace {

constexpr char kOrder[] = "loader/order";
constexpr char kPosition[] = "loader/position";
constexpr char kLoaderRandom[] = "loader/random";
constexpr char kRandom[] = "run/random";
constexpr char kSteps[] = "run/steps";

}  // namespace

void RunState::save(StateWriter& to) {
  const TrainLoader::State loader = loader_.state();
  to.put(kOrder, std::span<const std::uint32_t>(loader.order));
  to.put(kPosition, loader.position);
  to.put(kLoaderRandom, loader.random);
  to.put(kRandom, random_.state());
  to.put(kSteps, steps_);
}

void RunState::load(const StateReader& from) {
  const bool fits = loader_.resume({.order = from.values<std::uint32_t>(kOrder),
                                    .position = from.value<std::uint64_t>(kPosition),
                                    .random = from.value<std::uint64_t>(kLoaderRandom)});
  if (!fits) {
    throw FileError(from.origin() + " was saved with other training examples",
                    "go on with the same data set and partition, or start over");
  }
  random_ = stencil::Random(from.value<std::uint64_t>(kRandom));
  steps_ = from.value<std::uint64_t>(kSteps);
}

}  // namespace fast
