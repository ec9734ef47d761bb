#include "bench/compare/virtual/recorder.h"

namespace fast::compare {

Recorder::Recorder(const Cell& cell, const Split& split, std::function<void(double)> shown)
    : cell_(cell), evaluator_(cell, split), shown_(std::move(shown)) {}

bool Recorder::due(double samples, std::uint64_t budget) const {
  return curve_.size() < kCurvePoints &&
         samples / static_cast<double>(budget) >= mark(static_cast<int>(curve_.size()));
}

void Recorder::at(const Moment& moment, std::uint64_t budget,
                  const std::function<std::vector<std::span<const float>>()>& weights) {
  if (shown_) shown_(moment.samples / static_cast<double>(budget));
  if (!due(moment.samples, budget)) return;
  CurvePoint point = evaluator_.point(mean_of(weights()));
  point.samples = moment.samples;
  point.seconds = moment.seconds;
  point.bytes = moment.bytes;
  curve_.push_back(point);
}

CellResult Recorder::finish(VirtualWorkers& workers,
                            const std::vector<std::span<const float>>& models,
                            const Moment& moment) {
  const Mean mean = mean_of(models);
  if (!mean.finite) return diverged(moment);
  CellResult result;
  result.curve = std::move(curve_);
  const Evaluator::Ending judged = evaluator_.ending(mean.weights);
  result.mean_model = judged.accuracy;
  result.unseen = judged.unseen;
  result.consensus = mean.consensus;
  for (int worker = 0; worker < static_cast<int>(models.size()); ++worker) {
    // Identical replicas are evaluated once.
    result.workers.push_back(models.size() == 1 && workers.count() > 1
                                 ? *result.mean_model
                                 : evaluator_.own_accuracy(models[static_cast<std::size_t>(worker)],
                                                           workers.shard(worker)));
  }
  result.model_bytes = static_cast<double>(workers.weights(0).size_bytes());
  result.samples = moment.samples;
  result.training_seconds = moment.seconds;
  result.bytes = moment.bytes;
  return result;
}

CellResult Recorder::diverged(const Moment& moment) {
  CellResult result;
  result.diverged = true;
  result.samples = moment.samples;
  result.training_seconds = moment.seconds;
  result.bytes = moment.bytes;
  return result;
}

}  // namespace fast::compare
