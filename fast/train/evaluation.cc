#include "fast/train/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fast/data/loader.h"
#include "fast/errors.h"
#include "fast/train/initial_model.h"

namespace fast {
namespace {

/// See TestResult::chance.
double chance_of(const Dataset& data) {
  constexpr std::size_t kFewest = 500;
  if (data.test->size() < kFewest || !data.spec.has_labels()) return 0;
  std::vector<std::size_t> count(static_cast<std::size_t>(data.spec.classes));
  for (const std::uint32_t label : data.test->labels()) ++count[label];
  const auto size = static_cast<double>(data.test->size());
  const double share = static_cast<double>(std::ranges::max(count)) / size;
  return share + 2 * std::sqrt(share * (1 - share) / size);
}

/// See TestResult::measure.
Measure measure_of(const Dataset& data, double loss, double distance) {
  const bool tokens = data.spec.classes > 0 && !data.spec.target.shape.empty();
  if (tokens) return {"perplexity", std::exp(loss)};
  if (!std::isnan(distance)) return {"mean absolute error", distance};
  return {};
}

}  // namespace

void estimate_statistics(Learner& learner, const Dataset& data, std::vector<std::uint32_t> examples,
                         int batches, std::uint64_t seed, const std::atomic<bool>* stop) {
  if (learner.statistics() == Statistics::kNone || examples.empty()) return;
  const std::size_t batch = std::min(kTestBatch, examples.size());
  const auto passes = static_cast<int>(examples.size() / batch);
  TrainLoader loader(data, std::move(examples), batch, seed);
  learner.begin_statistics();
  for (int i = 0; i < std::min(batches, passes); ++i) {
    if (i > 0 && stop != nullptr && *stop) return;
    learner.accumulate_statistics(loader.next_plain());
  }
}

TestResult test(Learner& learner, const Dataset& data) {
  const std::atomic<bool> never = false;
  return *test(learner, data, never);
}

std::optional<TestResult> test(Learner& learner, const Dataset& data, const std::atomic<bool>& stop,
                               std::size_t most) {
  TestLoader loader(data, data.test, kTestBatch, most);
  TestResult result;
  std::size_t tested = 0;
  double distance = 0;
  for (Batch batch; loader.next(batch);) {
    if (stop) return std::nullopt;
    const StepResult step = learner.evaluate(batch);
    tested += batch.size;
    result.accuracy += step.correct;
    result.loss += step.loss * static_cast<double>(batch.size);
    distance += step.distance * static_cast<double>(batch.size);
  }
  if (tested == 0 && loader.size() > 0) {
    throw DataError(
        fmt::format("each of the {} examples of the test set holds NaN or infinity", loader.size()),
        "give it examples of finite numbers");
  }
  const auto size = static_cast<double>(std::max<std::size_t>(1, tested));
  return TestResult{result.accuracy / size, result.loss / size, chance_of(data),
                    measure_of(data, result.loss / size, distance / size)};
}

std::string in_words(const TestResult& result) {
  const auto accuracy = known(result.accuracy);
  std::string text = accuracy ? "test accuracy " + std::to_string(100 * *accuracy) + " %"
                              : fmt::format("test loss {:.6g}", result.loss);
  if (const auto value = result.measure.value) {
    text += fmt::format(", {} {:.4g}", result.measure.name, *value);
  }
  return text;
}

TestResult evaluate_model(std::span<const NamedTensor> tensors, Learner& learner,
                          const Dataset& data, std::uint64_t seed, const std::atomic<bool>* stop) {
  std::vector<TensorView> saved;
  for (const NamedTensor& tensor : tensors) {
    saved.push_back({tensor.name, tensor.dtype, tensor.shape, tensor.bytes});
  }
  load_state(saved, learner.adapter(), "the saved model",
             "give the model and data that were trained");
  std::vector<std::uint32_t> all(data.train->size());
  std::iota(all.begin(), all.end(), 0U);
  estimate_statistics(learner, data, std::move(all), kStatisticsBatches, seed, stop);
  const std::vector<NamedTensor> state = learner.adapter().state();
  for (const NamedTensor& tensor : tensors) {
    const auto source = std::ranges::find(state, tensor.name, &NamedTensor::name);
    std::ranges::copy(source->bytes, tensor.bytes.begin());
  }
  const std::atomic<bool> never = false;
  if (const auto result = test(learner, data, stop == nullptr ? never : *stop)) return *result;
  throw DataError("stopped on request", "evaluate it again with `fast report`");
}

}  // namespace fast
