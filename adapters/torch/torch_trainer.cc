#include "adapters/torch/torch_trainer.h"

#include <ATen/Context.h>
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/lbfgs.h>
#include <torch/optim/sgd.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <utility>

#include "fast/errors.h"
#include "fast/session/session.h"

namespace fast {
namespace {

namespace optim = torch::optim;

/// The name of LibTorch's random state in a checkpoint.
constexpr char kRandom[] = "torch/random";

/// The optimizer as an SGD, if some group has momentum; else null.
optim::SGD* with_momentum(optim::Optimizer& optimizer) {
  auto* const sgd = dynamic_cast<optim::SGD*>(&optimizer);
  if (sgd == nullptr) return nullptr;
  const bool any = std::ranges::any_of(sgd->param_groups(), [](auto& group) {
    return static_cast<optim::SGDOptions&>(group.options()).momentum() > 0;
  });
  return any ? sgd : nullptr;
}

std::vector<std::vector<const void*>> parameters_of(const optim::Optimizer& optimizer) {
  std::vector<std::vector<const void*>> all;
  for (const auto& group : optimizer.param_groups()) {
    auto& known = all.emplace_back();
    for (const auto& parameter : group.params()) known.push_back(parameter.unsafeGetTensorImpl());
  }
  return all;
}

}  // namespace

TorchTrainer::TorchTrainer(torch::nn::Module& model, optim::Optimizer& optimizer,
                           TorchTrainerOptions options)
    : model_(model),
      optimizer_(optimizer),
      clip_norm_(options.clip_norm),
      known_(parameters_of(optimizer)),
      adapter_(model, {.mix_buffers = options.mix_buffers, .log = std::move(options.log)}),
      statistics_(model) {
  for (const auto& named : model.named_parameters()) {
    names_.try_emplace(named.value().unsafeGetTensorImpl(), named.key());
  }
  check_options(options);
  adapter_.attach(*this);
  auto* const sgd = with_momentum(optimizer);
  if (sgd != nullptr && options.momentum_correction > 0) {
    correction_.emplace(*sgd, adapter_, options.momentum_correction);
  }
  const std::vector<torch::Tensor> trained = this->trained();
  if (!options.step_in_backward) return;
  const auto parts = StepInBackward::parts(trained);
  parts_.emplace(optimizer_, parts);
  in_backward_.emplace(adapter_, parts,
                       [this](std::size_t i) { parts_->with(i, [this] { make_step(); }); });
}

TorchTrainer::~TorchTrainer() = default;

void TorchTrainer::check_options(const TorchTrainerOptions& options) const {
  const auto say = [](double value) {
    std::ostringstream text;
    text << value;
    return text.str();
  };
  if (dynamic_cast<optim::LBFGS*>(&optimizer_) != nullptr) {
    throw ConfigError("LBFGS evaluates the loss many times a step, and a step here has one loss",
                      "use SGD, AdamW or another of torch::optim");
  }
  if (!(options.momentum_correction >= 0 && options.momentum_correction <= 1)) {
    throw ConfigError("momentum_correction is " + say(options.momentum_correction),
                      "give a share from 0 to 1");
  }
  if (!(options.clip_norm >= 0)) {
    throw ConfigError("clip_norm is " + say(options.clip_norm), "give 0 (never) or more");
  }
  if (options.clip_norm > 0 && options.step_in_backward) {
    throw ConfigError(
        "clip_norm " + say(options.clip_norm) +
            " needs the norm of all gradients, and step_in_backward makes steps before "
            "they are all there",
        "set step_in_backward = false, or clip_norm = 0");
  }
}

std::string TorchTrainer::name_of(const torch::Tensor& parameter) const {
  // Does not use names_, which lacks parameters added in mid-run.
  for (const auto& named : model_.named_parameters()) {
    if (named.value().is_same(parameter)) return "'" + named.key() + "'";
  }
  std::ostringstream text;
  text << "a tensor of shape " << parameter.sizes();
  return text.str();
}

/// The optimizer's parameters that require a gradient, in the order of the model. Throws
/// ConfigError for one that is not the model's.
std::vector<torch::Tensor> TorchTrainer::trained() const {
  std::vector<torch::Tensor> trained;
  const std::vector<torch::Tensor> all = model_.parameters();
  for (const auto& group : optimizer_.param_groups()) {
    for (const auto& parameter : group.params()) {
      if (!parameter.requires_grad()) continue;
      if (std::ranges::none_of(all, [&](const auto& own) { return own.is_same(parameter); })) {
        throw ConfigError("the optimizer has " + name_of(parameter) +
                              ", which is no parameter of the model and would not be exchanged",
                          "register it in the model, or give it an optimizer of its own");
      }
      trained.push_back(parameter);
    }
  }
  std::ranges::sort(trained, {}, [&](const auto& tensor) { return adapter_.offset_of(tensor); });
  return trained;
}

void TorchTrainer::check_parameters() const {
  const auto& groups = optimizer_.param_groups();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto& parameters = groups[g].params();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const auto& parameter = parameters[i];
      const void* const address = parameter.unsafeGetTensorImpl();
      if (g < known_.size() && i < known_[g].size() && known_[g][i] == address) continue;
      throw ConfigError("the optimizer has been given " + name_of(parameter) + " (group " +
                            std::to_string(g) +
                            ") since the trainer was made; neighbours do not know it",
                        "give it all parameters first, then make the trainer and the session");
    }
  }
}

ParameterName TorchTrainer::saved_names() const {
  return [this](const torch::Tensor& parameter) {
    const auto known = names_.find(parameter.unsafeGetTensorImpl());
    return known == names_.end() ? std::string() : known->second;
  };
}

void TorchTrainer::save(StateWriter& to) {
  const ParameterName name = saved_names();
  save_optimizer(optimizer_, name, to);
  if (correction_) correction_->save(name, to);
  save_tensor(kRandom, at::globalContext().defaultGenerator(at::kCPU).get_state(), to);
}

void TorchTrainer::load(const StateReader& from) {
  const ParameterName name = saved_names();
  load_optimizer(optimizer_, name, from);
  if (correction_) correction_->load(name, from);
  at::Generator generator = at::globalContext().defaultGenerator(at::kCPU);
  torch::Tensor random = generator.get_state();
  load_tensor(kRandom, random, from);
  generator.set_state(random);
}

void TorchTrainer::model_replaced() {
  reset_optimizer(optimizer_);
  if (correction_) correction_->model_replaced();
}

void TorchTrainer::make_step() {
  adapter_.changing();
  optimizer_.step();
  if (correction_) correction_->after_step();
}

void TorchTrainer::apply_gradients() {
  check_parameters();
  if (clip_norm_ > 0) torch::nn::utils::clip_grad_norm_(model_.parameters(), clip_norm_);
  make_step();
}

void TorchTrainer::accumulate(const torch::Tensor& loss) {
  statistics_.end();
  loss.backward();
}

double TorchTrainer::update(const torch::Tensor& loss) {
  statistics_.end();
  const double value = loss.item<double>();
  if (!std::isfinite(value)) {
    clear_gradients();
    return value;
  }
  if (in_backward_) {
    check_parameters();
    in_backward_->begin();
    try {
      loss.backward();
    } catch (...) {
      in_backward_->abandon();
      throw;
    }
    in_backward_->finish();
  } else {
    loss.backward();
    apply_gradients();
  }
  clear_gradients();
  return value;
}

double TorchTrainer::step(const torch::Tensor& loss, Session& session, std::size_t samples) {
  const double value = update(loss);
  if (!std::isfinite(value)) {
    throw NonFiniteError("the loss became " + std::to_string(value) + " at step " +
                         std::to_string(session.steps() + 1) + "; lower the learning rate");
  }
  session.exchange({.samples = samples, .loss = value});
  return value;
}

void TorchTrainer::gather_statistics(int batches, const std::function<void()>& forward) {
  if (statistics_.empty()) return;
  const torch::NoGradGuard no_grad;
  const bool training = model_.is_training();
  model_.train(true);
  statistics_.begin();
  for (int batch = 0; batch < batches; ++batch) forward();
  statistics_.end();
  model_.train(training);
}

void TorchTrainer::set_learning_rate(double rate) {
  for (auto& group : optimizer_.param_groups()) group.options().set_lr(rate);
}

}  // namespace fast
