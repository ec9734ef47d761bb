#include "bench/compare/split.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
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

ImageSet pick(const ImageSet& from, std::span<const std::uint32_t> which) {
  ImageSet out;
  out.shape = from.shape;
  out.pixels.reserve(which.size() * from.shape.pixels());
  for (const std::uint32_t i : which) {
    const auto image = from.image(i);
    out.pixels.insert(out.pixels.end(), image.begin(), image.end());
    out.labels.push_back(from.labels[i]);
  }
  return out;
}

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
  ImageDataset all = load_images(data_spec(job, places), cell.seed);
  std::vector<std::uint32_t> order(all.train.size());
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
  const auto part = [&](ImageSet train, ImageSet test) {
    Dataset made(ImageDataset{all, std::move(train), std::move(test)});
    made.name = data_spec(job, places);
    return made;
  };
  const auto picked = [&](std::span<const std::uint32_t> which) { return pick(all.train, which); };
  const auto some = trained.first(std::min(trained.size(), kStatisticsExamples));
  Split split{.shape = all.train.shape,
              .training = part(picked(trained), cell.tuning ? picked(held_out) : all.test),
              .validation = part(picked(some), picked(held_out)),
              .unseen = part(picked({}), picked(std::span(order).subspan(used, job.unseen)))};
  return split;
}

std::unique_ptr<TorchLearner> make_learner(const Cell& cell, const ImageShape& shape, int threads,
                                           int rank) {
  LearnerOptions options;
  options.model = cell.job.model;
  options.examples = shape;
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
  const auto like = make_model(options.model, shape, options.seed);
  auto stand_in = make_stand_in(
      *like, shape, [times = StepTimes(cell), rank]() mutable { return times.next(rank); });
  return std::make_unique<TorchLearner>(std::move(stand_in), options);
}

}  // namespace fast::compare
