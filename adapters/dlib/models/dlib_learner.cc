#include "adapters/dlib/models/dlib_learner.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "adapters/dlib/dlib_adapter.h"
#include "adapters/dlib/models/net.h"
#include "fast/errors.h"
#include "fast/train/flat_optimizer.h"
#include "fast/train/initial_weights.h"
#include "stencil/core/text.h"

namespace fast {
namespace {

using dlib_nets::NamedNet;

/// One model. To add one: a file in this folder, its line in net.h and two here.
struct DlibModel {
  std::string_view name;
  NamedNet (*build)(const ImageShape& shape);
};

constexpr DlibModel kModels[] = {
    {"mlp", dlib_nets::make_mlp},          {"lenet", dlib_nets::make_lenet},
    {"resnet8", dlib_nets::make_resnet8},  {"dlib:mlp", dlib_nets::make_mlp},
    {"dlib:lenet", dlib_nets::make_lenet}, {"dlib:resnet8", dlib_nets::make_resnet8},
};

std::vector<std::string_view> model_names() {
  std::vector<std::string_view> names;
  for (const DlibModel& model : kModels) names.push_back(model.name);
  return names;
}

NamedNet make_net(const LearnerOptions& options) {
  stencil::check_choice("model", options.model, model_names());
  return std::ranges::find(kModels, options.model, &DlibModel::name)
      ->build(labelled_images(options));
}

/// Of one image. `slope`, which may be null, gets the gradient of the loss times `weight`.
void add_image(std::span<const float> scores, std::size_t label, double weight, StepResult& result,
               float* slope) {
  const auto best = std::ranges::max_element(scores);
  result.correct += static_cast<std::size_t>(best - scores.begin()) == label ? 1 : 0;
  const float highest = *best;
  double sum = 0;
  for (const float score : scores) sum += std::exp(static_cast<double>(score - highest));
  result.loss += weight * (std::log(sum) - static_cast<double>(scores[label] - highest));
  if (slope == nullptr) return;
  for (std::size_t c = 0; c < scores.size(); ++c) {
    const double share = std::exp(static_cast<double>(scores[c] - highest)) / sum;
    slope[c] = static_cast<float>(weight * (share - (c == label ? 1 : 0)));
  }
}

bool all_finite(std::span<const float> values) {
  float sum = 0;  // stays 0 as long as all are finite
  for (const float value : values) sum += value * 0.0F;
  return sum == 0;
}

class DlibLearner final : public Learner {
 public:
  explicit DlibLearner(const LearnerOptions& options) : DlibLearner(make_net(options), options) {}

  ModelAdapter& adapter() override { return adapter_; }
  void set_learning_rate(double rate) override { optimizer_.set_learning_rate(rate); }

  StepResult train_step(const Batch& batch) override {
    adapter_.end_statistics();
    const dlib::tensor& scores = forward(batch, 0, batch.size);
    StepResult result = losses(scores, batch.labels(), batch.size, net_->slope().host());
    net_->backward(images_);
    // dlib's relu makes 0 of NaN, so that the loss may be finite where the gradient is not.
    bool finite = std::isfinite(result.loss);
    adapter_.each_trained([&](std::size_t, auto, std::span<const float> gradient) {
      finite = finite && all_finite(gradient);
    });
    if (!finite) {
      result.loss = std::numeric_limits<double>::quiet_NaN();
      return result;
    }
    optimizer_.begin_step();
    adapter_.each_trained(
        [this](std::size_t offset, std::span<float> values, std::span<const float> gradient) {
          optimizer_.step(offset, values, gradient);
        });
    optimizer_.end_step();
    return result;
  }

  // dlib's BatchNorm uses its running statistics for a single image alone.
  StepResult evaluate(const Batch& batch) override {
    adapter_.end_statistics();
    const std::size_t count = batch.size;
    const std::size_t at_once = adapter_.has_statistics() ? 1 : count;
    StepResult result;
    for (std::size_t first = 0; first < count; first += at_once) {
      const StepResult part = losses(forward(batch, first, at_once),
                                     batch.labels().subspan(first, at_once), count, nullptr);
      result.loss += part.loss;
      result.correct += part.correct;
    }
    return result;
  }

  Statistics statistics() const override {
    if (!adapter_.has_statistics()) return Statistics::kNone;
    return exchanged_ ? Statistics::kExchanged : Statistics::kLocal;
  }
  void begin_statistics() override { adapter_.begin_statistics(); }
  void accumulate_statistics(const Batch& batch) override { (void)forward(batch, 0, batch.size); }

 private:
  DlibLearner(NamedNet named, const LearnerOptions& options)
      : shape_(labelled_images(options)),
        exchanged_(options.mix_buffers),
        net_(std::move(named.net)),
        adapter_(net_->layers(),
                 {.names = std::move(named.names), .mix_buffers = options.mix_buffers}),
        optimizer_(options.optimizer, adapter_.followers(), adapter_.trained()) {
    adapter_.attach(optimizer_);
    std::uint64_t index = 0;
    for (const ParameterSlot& slot : adapter_.parameters()) {
      if (slot.offset >= adapter_.trained()) break;
      draw_weights(options.seed, index++, slot.name, slot.shape,
                   adapter_.values().subspan(slot.offset, slot.size));
    }
    adapter_.push(0, adapter_.trained());
  }

  const dlib::tensor& forward(const Batch& batch, std::size_t first, std::size_t count) {
    images_.set_size(static_cast<long long>(count), shape_.channels, shape_.height, shape_.width);
    std::ranges::copy(batch.images().subspan(first * shape_.pixels(), count * shape_.pixels()),
                      images_.host());
    return net_->forward(images_);
  }

  StepResult losses(const dlib::tensor& scores, std::span<const std::int64_t> labels,
                    std::size_t count, float* slope) const {
    StepResult result;
    const auto classes = static_cast<std::size_t>(shape_.classes);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      add_image({scores.host() + i * classes, classes}, static_cast<std::size_t>(labels[i]),
                1.0 / static_cast<double>(count), result,
                slope == nullptr ? nullptr : slope + i * classes);
    }
    return result;
  }

  ImageShape shape_;
  bool exchanged_;
  std::unique_ptr<dlib_nets::Net> net_;
  DlibAdapter adapter_;
  FlatOptimizer optimizer_;
  dlib::resizable_tensor images_;
};

}  // namespace

std::unique_ptr<Learner> make_dlib_learner(const LearnerOptions& options) {
  check_no_patterns(options);
  return std::make_unique<DlibLearner>(options);
}

std::vector<ModelKind> dlib_models() {
  std::vector<ModelKind> kinds;
  for (const DlibModel& model : kModels)
    kinds.push_back({std::string(model.name), make_dlib_learner});
  return kinds;
}

}  // namespace fast
