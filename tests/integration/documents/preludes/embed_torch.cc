// What the examples of README and of the headers of LibTorch's adapter leave out. Snippets are
// included as they stand; see snippets.py.
//
//   embed_torch readme|trainer|overlap|schedule|data     under fast run
//   embed_torch by-hand RANK               on a machine of its own
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/torch/scheduler_steps.h"
#include "adapters/torch/sharded_sampler.h"
#include "adapters/torch/step_in_backward.h"
#include "adapters/torch/torch_adapter.h"
#include "adapters/torch/torch_trainer.h"
#include "fast/session/exit_code.h"
#include "fast/session/session.h"

namespace {

using fast::StepInBackward;

struct NetImpl : torch::nn::Module {
  NetImpl() : layer(register_module("layer", torch::nn::Linear(8, 4))) {}
  torch::Tensor forward(const torch::Tensor& x) { return layer->forward(x); }
  torch::nn::Linear layer;
};
TORCH_MODULE(Net);

std::pair<torch::Tensor, torch::Tensor> next_batch() {
  const torch::Tensor x = torch::randn({500, 8});
  return {x, x.slice(1, 0, 4).argmax(1)};
}

torch::Tensor cross_entropy(const torch::Tensor& output, const torch::Tensor& labels) {
  return torch::nn::functional::cross_entropy(output, labels);
}

fast::ExitCode readme() {
#include "README.md.cpp.1"
  return fast::exit_code(session.finish());
}

fast::ExitCode train(fast::SessionOptions options) {
  options.budget = 40000;
  Net model;
  torch::optim::SGD optimizer(model->parameters(), 0.05);
  const auto [x, y] = next_batch();
#include "adapters-torch-torch_trainer.h.cpp.1"
  return fast::exit_code(session.finish());
}

fast::ExitCode by_hand(int rank) {
#include "README.md.cpp.2"
  return train(options);
}

fast::ExitCode overlap() {
  Net model;
  fast::TorchAdapter adapter(*model);
  auto options = fast::SessionOptions::from_environment();
  options.budget = 40000;
  fast::Session session(adapter, options);
  std::vector<torch::optim::SGD> optimizers;
  for (const auto& part : fast::StepInBackward::parts(model->parameters())) {
    optimizers.emplace_back(part, torch::optim::SGDOptions(0.05));
  }
  while (!session.done()) {
    for (auto& optimizer : optimizers) optimizer.zero_grad();
    const auto [x, y] = next_batch();
    const torch::Tensor loss = cross_entropy(model->forward(x), y);
    const fast::StepReport report{.samples = 500, .loss = loss.item<double>()};
#include "adapters-torch-step_in_backward.h.cpp.1"
  }
  return fast::exit_code(session.finish());
}

fast::ExitCode scheduled() {
  Net model;
  torch::optim::SGD optimizer(model->parameters(), 0.05);
  torch::optim::StepLR scheduler(optimizer, 10, 0.5);
  fast::TorchTrainer trainer(*model, optimizer);
#include "adapters-torch-scheduler_steps.h.cpp.1"
  auto options = fast::SessionOptions::from_environment();
  options.budget = 40000;
  fast::Session session(trainer.adapter(), options);
  while (!session.done()) {
    const auto [x, y] = next_batch();
    trainer.step(cross_entropy(model->forward(x), y), session, x.size(0));
  }
  return fast::exit_code(session.finish());
}

struct Points : torch::data::datasets::Dataset<Points> {
  torch::data::Example<> get(std::size_t i) override {
    const torch::Tensor x = torch::arange(8) % (static_cast<double>(i % 7) + 2);
    return {x, x.slice(0, 0, 4).argmax()};
  }
  torch::optional<std::size_t> size() const override { return 4000; }
};

fast::ExitCode shared_out() {
  Net model;
  torch::optim::SGD optimizer(model->parameters(), 0.05);
  fast::TorchTrainer trainer(*model, optimizer);
  auto options = fast::SessionOptions::from_environment();
  options.budget = 40000;
  auto data = Points().map(torch::data::transforms::Stack<>());
#include "adapters-torch-sharded_sampler.h.cpp.1"
  while (!session.done()) {
    for (const auto& [x, y] : *loader) {
      trainer.step(cross_entropy(model->forward(x), y), session, x.size(0));
    }
  }
  return fast::exit_code(session.finish());
}

fast::ExitCode run(std::string_view what, int rank) {
  torch::set_num_threads(1);
  if (what == "readme") return readme();
  if (what == "trainer") return train(fast::SessionOptions::from_environment());
  if (what == "overlap") return overlap();
  if (what == "schedule") return scheduled();
  if (what == "data") return shared_out();
  return by_hand(rank);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return static_cast<int>(run(argv[1], argc > 2 ? std::atoi(argv[2]) : 0));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(fast::exit_code(error));
  }
}
