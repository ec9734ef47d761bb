#include "bench/compare/split.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "adapters/torch/models/models.h"
#include "bench/compare/real/stand_in.h"
#include "bench/compare/virtual/timing.h"
#include "fast/errors.h"
#include "stencil/core/random.h"

namespace fast::compare {
namespace {

/// One order for every cell: all strategies and seeds hold out the same examples.
constexpr std::uint64_t kOrderSeed = 20191;
/// Enough to re-estimate BatchNorm's statistics for a point of a curve.
constexpr std::size_t kStatisticsExamples = 2000;

/// Some of the examples of another set.
class Some final : public ExampleSet {
 public:
  Some(std::shared_ptr<const ExampleSet> all, const ExampleSpec& spec,
       std::span<const std::uint32_t> which)
      : all_(std::move(all)),
        input_(spec.input.values()),
        target_(spec.target.values()),
        which_(which.begin(), which.end()) {}

  [[nodiscard]] std::size_t size() const override { return which_.size(); }
  [[nodiscard]] std::vector<std::uint32_t> labels() const override {
    const std::vector<std::uint32_t> all = all_->labels();
    std::vector<std::uint32_t> labels;
    for (const std::uint32_t i : which_) labels.push_back(all[i]);
    return labels;
  }
  void write(std::size_t first, std::size_t count, stencil::Random* random, const ValuesOut& inputs,
             const ValuesOut& targets) const override {
    for (std::size_t i = 0; i < count; ++i) {
      all_->write(which_[first + i], 1, random, one_of(inputs, i, input_),
                  one_of(targets, i, target_));
    }
  }
  [[nodiscard]] std::size_t bytes() const override { return all_->bytes(); }

 private:
  static ValuesOut one_of(const ValuesOut& all, std::size_t i, std::size_t values) {
    return std::visit([&](auto span) { return ValuesOut(span.subspan(i * values, values)); }, all);
  }

  std::shared_ptr<const ExampleSet> all_;
  std::size_t input_, target_;
  std::vector<std::uint32_t> which_;
};

}  // namespace

std::string data_spec(const Job& job, const DataPlaces& places) {
  if (job.data != "cifar10") return job.data;
  if (places.cifar10.empty()) {
    throw ConfigError("the data set cifar10 is not at hand", "say where: --cifar10 DIR");
  }
  return "cifar10:" + places.cifar10;
}

Split load_split(const Cell& cell, const DataPlaces& places) {
  const Job& job = cell.job;
  const Dataset all = load_dataset(data_spec(job, places), cell.seed);
  std::vector<std::uint32_t> order(all.train->size());
  std::iota(order.begin(), order.end(), 0U);
  stencil::Random random(kOrderSeed);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);

  const std::size_t used = job.examples == 0 ? order.size() : job.examples;
  if (used > order.size() || job.validation >= used || job.unseen > order.size() - used) {
    throw ConfigError("examples = " + std::to_string(job.examples) +
                          ", validation = " + std::to_string(job.validation) +
                          ", unseen = " + std::to_string(job.unseen) + ": the data set has " +
                          std::to_string(order.size()),
                      "use fewer");
  }
  const auto held_out = std::span(order).first(job.validation);
  const auto trained = std::span(order).subspan(job.validation, used - job.validation);
  const auto part = [&](std::shared_ptr<const ExampleSet> train,
                        std::shared_ptr<const ExampleSet> test) {
    Dataset made = all;
    made.train = std::move(train);
    made.test = std::move(test);
    return made;
  };
  const auto picked = [&](std::span<const std::uint32_t> which) {
    return std::make_shared<Some>(all.train, all.spec, which);
  };
  const auto some = trained.first(std::min(trained.size(), kStatisticsExamples));
  std::shared_ptr<const ExampleSet> judge = all.test;
  if (cell.tuning) judge = picked(held_out);
  Split split{.examples = all.spec,
              .training = part(picked(trained), judge),
              .validation = part(picked(some), picked(held_out)),
              .unseen = part(picked({}), picked(std::span(order).subspan(used, job.unseen)))};
  return split;
}

std::unique_ptr<TorchLearner> make_learner(const Cell& cell, const ExampleSpec& examples,
                                           int threads, int rank) {
  LearnerOptions options;
  options.model = cell.job.model;
  options.examples = examples;
  options.optimizer = {.name = cell.job.optimizer,
                       .learning_rate = cell.strategy.learning_rate,
                       .momentum = cell.job.momentum,
                       .nesterov = cell.job.nesterov,
                       .momentum_correction = cell.strategy.momentum_correction,
                       .weight_decay = cell.job.weight_decay};
  options.mix_buffers = cell.strategy.mixes_statistics();
  options.overlap = cell.strategy.exchange.overlap && cell.time != TimeKind::kVirtual;
  options.seed = cell.seed;
  options.threads = threads;
  if (cell.time != TimeKind::kStandIn) return std::make_unique<TorchLearner>(options);
  const auto like = make_model(options);
  auto stand_in = make_stand_in(
      *like, examples, [times = StepTimes(cell), rank]() mutable { return times.next(rank); });
  return std::make_unique<TorchLearner>(std::move(stand_in), options);
}

}  // namespace fast::compare
