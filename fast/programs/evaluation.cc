#include "fast/programs/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "fast/data/loader.h"
#include "fast/errors.h"

namespace fast {
namespace {

constexpr std::size_t kBatch = 250;
constexpr int kStatisticsBatches = 100;

const NamedTensor& matching(std::span<const NamedTensor> tensors, const NamedTensor& wanted) {
  const auto it = std::find_if(tensors.begin(), tensors.end(),
                               [&](const NamedTensor& t) { return t.name == wanted.name; });
  if (it == tensors.end()) {
    throw FileError(fmt::format("the saved model has no tensor '{}'", wanted.name),
                    "give the --model that was trained");
  }
  if (it->dtype != wanted.dtype || it->shape != wanted.shape) {
    throw FileError(
        fmt::format("tensor '{}' is {} of {} bytes in the saved model, but {} of {} here",
                    wanted.name, it->dtype, it->bytes.size(), wanted.dtype, wanted.bytes.size()),
        "give the --model and --data that were trained");
  }
  return *it;
}

}  // namespace

void load_state(std::span<const NamedTensor> from, ModelAdapter& model) {
  std::vector<NamedTensor> to = model.state();
  for (const NamedTensor& tensor : to) {
    const NamedTensor& source = matching(from, tensor);
    std::copy(source.bytes.begin(), source.bytes.end(), tensor.bytes.begin());
  }
  if (from.size() != to.size()) {
    throw FileError(
        fmt::format("the saved model has {} tensors, this one {}", from.size(), to.size()),
        "give the --model that was trained");
  }
}

void estimate_statistics(Learner& learner, const Dataset& data, int batches, std::uint64_t seed) {
  if (!learner.has_batch_statistics()) return;
  std::vector<std::uint32_t> all(data.train.size());
  std::iota(all.begin(), all.end(), 0U);
  const std::size_t batch = std::min(kBatch, all.size());
  const auto passes = static_cast<int>(all.size() / std::max<std::size_t>(1, batch));
  TrainLoader loader(data, std::move(all), batch, seed);
  learner.begin_statistics();
  for (int i = 0; i < std::min(batches, passes); ++i) {
    learner.accumulate_statistics(loader.next_plain());
  }
}

double test_accuracy(Learner& learner, const Dataset& data) {
  TestLoader loader(data, data.test, kBatch);
  std::size_t correct = 0;
  for (Batch batch; loader.next(batch);) correct += learner.evaluate(batch).correct;
  return static_cast<double>(correct) /
         static_cast<double>(std::max<std::size_t>(1, data.test.size()));
}

double evaluate_model(std::span<const NamedTensor> tensors, Learner& learner, const Dataset& data,
                      std::uint64_t seed) {
  load_state(tensors, learner.adapter());
  estimate_statistics(learner, data, kStatisticsBatches, seed);
  const std::vector<NamedTensor> state = learner.adapter().state();
  for (const NamedTensor& tensor : tensors) {
    const NamedTensor& source = matching(state, tensor);
    std::copy(source.bytes.begin(), source.bytes.end(), tensor.bytes.begin());
  }
  return test_accuracy(learner, data);
}

}  // namespace fast
