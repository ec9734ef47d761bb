#include "fast/train/held_memory.h"

#include <algorithm>

#include "fast/train/evaluation.h"

namespace fast {
namespace {

/// Numbers that the optimizer keeps for each value.
std::size_t numbers_kept(const OptimizerOptions& optimizer) {
  if (optimizer.name == "adamw") return 2;
  return optimizer.momentum > 0 ? 1 : 0;
}

}  // namespace

std::vector<std::pair<std::string, std::uint64_t>> held_beside(const WorkerConfig& config,
                                                               const Dataset& data,
                                                               std::size_t shard,
                                                               ModelAdapter& adapter) {
  // The order of the shard is held by the worker and by its loader.
  const std::size_t order = 2 * shard * sizeof(std::uint32_t);
  const std::size_t each = data.spec.input.bytes() + data.spec.target.bytes();
  const std::size_t trained = static_cast<std::size_t>(config.batch) * each;
  // Those of a test batch are read from a file, at most as they are there.
  const std::size_t tested = kTestBatch * (each + data.spec.input.bytes());
  std::size_t model = 0;
  for (const NamedTensor& tensor : adapter.state()) {
    if (!tensor.alias) model += tensor.bytes.size();
  }
  const std::size_t values = adapter.values().size_bytes();
  return {{"data", data.train->bytes() + data.test->bytes() + order},
          {"batches", trained + tested},
          {"model", model},
          {"gradients", values},
          {"optimizer", values * numbers_kept(config.optimizer)}};
}

}  // namespace fast
