#pragma once

#include <torch/script.h>

#include <cstdint>
#include <filesystem>

namespace fast::testing {

/// A model of one's own, as torch.jit.script() makes it: parameters head.weight and head.bias of a
/// linear layer, drawn from `seed`; a frozen one, `scale`, of ones; BatchNorm's buffers over the
/// inputs, norm.running_mean, norm.running_var and norm.num_batches_tracked.
inline void save_script(const std::filesystem::path& file, std::int64_t inputs,
                        std::int64_t outputs, std::uint64_t seed = 1) {
  const torch::NoGradGuard no_grad;
  auto generator = torch::make_generator<torch::CPUGeneratorImpl>(seed);
  torch::jit::Module head("Head"), norm("Norm"), model("Own");
  head.register_parameter("weight", 0.1 * torch::randn({outputs, inputs}, generator), false);
  head.register_parameter("bias", torch::zeros({outputs}), false);
  head.attr("weight").toTensor().requires_grad_(true);
  head.attr("bias").toTensor().requires_grad_(true);
  head.define(R"(
def forward(self, x):
    return torch.add(torch.matmul(x, torch.t(self.weight)), self.bias)
)");
  norm.register_buffer("running_mean", torch::zeros({inputs}));
  norm.register_buffer("running_var", torch::ones({inputs}));
  norm.register_buffer("num_batches_tracked", torch::zeros({}, torch::kInt64));
  norm.register_attribute("training", c10::BoolType::get(), true);
  norm.define(R"(
def forward(self, x):
    if self.training:
        self.num_batches_tracked.add_(1)
    return torch.batch_norm(x, None, None, self.running_mean, self.running_var,
                            self.training, 0.1, 1e-05, False)
)");
  model.register_parameter("scale", torch::ones({1}), false);
  model.register_module("norm", norm);
  model.register_module("head", head);
  model.define(R"(
def forward(self, x):
    return self.scale * self.head.forward(self.norm.forward(torch.flatten(x, 1)))
)");
  model.save(file.string());
}

}  // namespace fast::testing
