#include "adapters/torch/step_in_backward.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <utility>

#include "adapters/torch/torch_adapter.h"

namespace fast {
namespace {

namespace autograd = torch::autograd;

/// Called when a parameter's gradient has been added up.
class Hook final : public autograd::FunctionPostHook {
 public:
  explicit Hook(std::function<void()> call) : call_(std::move(call)) {}
  autograd::variable_list operator()(const autograd::variable_list& outputs,
                                     const autograd::variable_list& /*inputs*/) override {
    call_();
    return outputs;
  }

 private:
  std::function<void()> call_;
};

}  // namespace

struct StepInBackward::State {
  struct Part {
    std::size_t parameters = 0;
    std::size_t first = 0;    ///< values from here on belong to this part and those before it
    std::size_t awaited = 0;  ///< gradients
  };

  TorchAdapter& adapter;
  std::function<void(std::size_t)> step;
  std::vector<Part> parts;
  /// A parameter's gradient accumulator exists only while somebody holds it.
  /// std::shared_ptr up to LibTorch 2.6, c10::intrusive_ptr in 2.15.
  using Accumulator = decltype(autograd::impl::grad_accumulator(torch::Tensor()));
  std::vector<Accumulator> accumulators;
  std::size_t made = 0;  ///< parts
  bool active = false;

  /// Takes steps in order: a part whose gradients are ready before those of an earlier part waits
  /// for that part.
  void make(bool all) {
    for (; made < parts.size() && (all || parts[made].awaited == 0); ++made) {
      step(made);
      adapter.ready_from(parts[made].first);
    }
  }
  void gradient(std::size_t part) {
    if (!active || parts[part].awaited == 0) return;
    if (--parts[part].awaited == 0) make(false);
  }
};

StepInBackward::Parts StepInBackward::parts(const std::vector<torch::Tensor>& parameters,
                                            std::size_t count) {
  std::vector<torch::Tensor> wanting;
  std::int64_t left = 0;
  for (const auto& parameter : parameters) {
    if (!parameter.requires_grad()) continue;
    wanting.push_back(parameter);
    left += parameter.numel();
  }
  Parts parts;
  std::int64_t filled = 0, most = 0;
  for (auto it = wanting.rbegin(); it != wanting.rend(); ++it) {
    if (parts.empty() || (parts.size() < count && filled + it->numel() > most)) {
      most = left / static_cast<std::int64_t>(count - parts.size());
      filled = 0;
      parts.emplace_back();
    }
    parts.back().push_back(*it);
    filled += it->numel();
    left -= it->numel();
  }
  return parts;
}

StepInBackward::StepInBackward(TorchAdapter& adapter, const Parts& parts,
                               std::function<void(std::size_t)> step)
    : state_(std::make_shared<State>(State{adapter, std::move(step), {}, {}})) {
  std::size_t end = 0;  // of what comes after, from the first part to the last
  for (std::size_t part = parts.size(); part-- > 0;) {
    state_->parts.insert(state_->parts.begin(), {parts[part].size(), end, 0});
    for (const auto& parameter : parts[part]) {
      const std::size_t offset = adapter.offset_of(parameter);
      end = std::max(end, offset + static_cast<std::size_t>(parameter.numel()));
      state_->accumulators.push_back(autograd::impl::grad_accumulator(parameter));
      state_->accumulators.back()->add_post_hook(
          std::make_unique<Hook>([state = std::weak_ptr(state_), part] {
            if (const auto alive = state.lock()) alive->gradient(part);
          }));
    }
  }
}

StepInBackward::~StepInBackward() = default;

void StepInBackward::begin() {
  for (auto& part : state_->parts) part.awaited = part.parameters;
  state_->made = 0;
  state_->active = true;
}

void StepInBackward::finish() {
  state_->active = false;
  state_->make(true);
}

void StepInBackward::abandon() {
  state_->active = false;
}

}  // namespace fast
