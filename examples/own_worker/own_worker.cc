// A worker program with a model and a data set of its own, beside all that fast-worker has:
//   fast train --worker-program ./own_worker --model two-layers --data waves:4000 --loss mse
#include <torch/nn/modules/linear.h>

#include <charconv>
#include <cmath>
#include <memory>
#include <string_view>

#include "adapters/torch/models/model.h"
#include "adapters/torch/models/torch_learner.h"
#include "fast/programs/worker_main.h"

namespace {

/// Points on a line, and a wave over it.
struct Waves final : fast::ExampleSet {
  explicit Waves(std::size_t points) : count(points) {}
  std::size_t size() const override { return count; }
  std::vector<std::uint32_t> labels() const override { return std::vector<std::uint32_t>(count); }
  std::size_t bytes() const override { return 0; }
  void write(std::size_t first, std::size_t n, stencil::Random* /*random*/,
             const fast::ValuesOut& inputs, const fast::ValuesOut& targets) const override {
    for (std::size_t i = 0; i < n; ++i) {
      const float x = 2.0F * static_cast<float>(first + i) / static_cast<float>(count) - 1;
      std::get<std::span<float>>(inputs)[i] = x;
      std::get<std::span<float>>(targets)[i] = std::sin(4 * x);
    }
  }
  std::size_t count;
};

fast::Dataset waves(std::string_view points, std::uint64_t /*seed*/) {
  std::size_t count = 1000;
  std::from_chars(points.data(), points.data() + points.size(), count);
  fast::Dataset data;
  data.spec.input = data.spec.target = {fast::ValueType::kFloat32, {1}};
  data.train = std::make_shared<Waves>(count);
  data.test = std::make_shared<Waves>(count / 4);
  return data;
}

struct TwoLayers final : fast::Model {
  torch::Tensor forward(torch::Tensor x) override { return last(torch::tanh(first(x))); }
  torch::nn::Linear first = register_module("first", torch::nn::Linear(1, 32));
  torch::nn::Linear last = register_module("last", torch::nn::Linear(32, 1));
};

std::unique_ptr<fast::Learner> two_layers(const fast::LearnerOptions& options) {
  torch::manual_seed(options.seed);
  return std::make_unique<fast::TorchLearner>(std::make_shared<TwoLayers>(), options);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<fast::ModelKind> models = fast::torch_models();
  models.push_back({"two-layers", two_layers});
  const fast::Datasets data({{"waves", "waves:POINTS (sin 4x)", waves}});
  return fast::worker_main(argc, argv, fast::Models(models, data));
}
