#include "adapters/torch/models/gpt.h"

#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fast/errors.h"
#include "fast/train/models.h"
#include "stencil/core/random.h"
#include "stencil/core/text.h"

namespace fast {
namespace {

namespace nn = torch::nn;

constexpr double kDeviation = 0.02;
constexpr std::int64_t kMost = 1 << 16;  ///< of layers, heads and width
constexpr int kRest = 4;                 ///< a block's hidden units, for each of the width

/// Attention, then two layers for each token by itself; both add to what passes by.
struct GptBlockImpl final : nn::Module {
  explicit GptBlockImpl(const GptSizes& sizes)
      : heads(sizes.heads),
        norm1(register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({sizes.width})))),
        attention(register_module("attention", nn::Linear(sizes.width, 3 * sizes.width))),
        mixed(register_module("mixed", nn::Linear(sizes.width, sizes.width))),
        norm2(register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({sizes.width})))),
        hidden(register_module("hidden", nn::Linear(sizes.width, kRest * sizes.width))),
        out(register_module("out", nn::Linear(kRest * sizes.width, sizes.width))) {}

  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& later) {
    const torch::Tensor attended = x + mixed(look_back(attention(norm1(x)), later));
    return attended + out(torch::gelu(hidden(norm2(attended))));
  }

  std::int64_t heads;
  nn::LayerNorm norm1;
  nn::Linear attention, mixed;
  nn::LayerNorm norm2;
  nn::Linear hidden, out;

 private:
  /// Softmax attention by hand: LibTorch has it as one function from version 2 on. `all` holds
  /// queries, keys and values of each token, [batch, length, 3 width].
  [[nodiscard]] torch::Tensor look_back(const torch::Tensor& all,
                                        const torch::Tensor& later) const {
    const std::int64_t batch = all.size(0), length = all.size(1), width = all.size(2) / 3;
    const auto parts =
        all.view({batch, length, 3, heads, width / heads}).permute({2, 0, 3, 1, 4}).unbind(0);
    const double scale = 1 / std::sqrt(static_cast<double>(width / heads));
    const torch::Tensor scores = torch::matmul(parts[0], parts[1].transpose(-2, -1)) * scale;
    const torch::Tensor weights =
        scores.masked_fill(later, -std::numeric_limits<double>::infinity()).softmax(-1);
    return torch::matmul(weights, parts[2]).transpose(1, 2).reshape({batch, length, width});
  }
};
TORCH_MODULE(GptBlock);

class Gpt final : public Model {
 public:
  Gpt(const GptSizes& sizes, std::int64_t length, std::int64_t tokens)
      : tokens_(register_module("tokens", nn::Embedding(tokens, sizes.width))),
        positions_(register_module("positions", nn::Embedding(length, sizes.width))) {
    auto blocks = std::make_shared<nn::Module>("blocks");
    for (std::int64_t i = 0; i < sizes.layers; ++i) {
      blocks_.push_back(blocks->register_module(std::to_string(i), GptBlock(sizes)));
    }
    register_module("blocks", blocks);
    norm_ = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({sizes.width})));
    fc_ = register_module("fc", nn::Linear(nn::LinearOptions(sizes.width, tokens).bias(false)));
  }

  torch::Tensor forward(torch::Tensor inputs) override {
    const std::int64_t length = inputs.size(1);
    const torch::Tensor later =
        torch::ones({length, length}, torch::kBool).triu(/*diagonal=*/1);  // of row i, i + 1 on
    torch::Tensor x = use(tokens_)(inputs);
    x = x + use(positions_)(torch::arange(length));
    for (GptBlock& block : blocks_) x = use(block)->forward(x, later);
    x = use(norm_)(x);
    return use(fc_)(x);
  }

 private:
  nn::Embedding tokens_, positions_;
  std::vector<GptBlock> blocks_;
  nn::LayerNorm norm_{nullptr};
  nn::Linear fc_{nullptr};
};

/// Whether what a layer gives is added to what passes by.
bool is_added(std::string_view parameter) {
  return parameter.ends_with(".mixed.weight") || parameter.ends_with(".out.weight");
}

void draw(Gpt& model, std::int64_t layers, std::uint64_t seed) {
  const torch::NoGradGuard no_grad;
  std::uint64_t index = 0;
  for (auto& item : model.named_parameters()) {
    torch::Tensor& tensor = item.value();
    stencil::Random random(stencil::Random::derive(seed, index++));
    if (tensor.dim() < 2) {
      tensor.fill_(item.key().ends_with("bias") ? 0 : 1);
      continue;
    }
    const double less = is_added(item.key()) ? std::sqrt(2.0 * static_cast<double>(layers)) : 1;
    auto* const values = tensor.data_ptr<float>();
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {
      values[i] = static_cast<float>(random.normal() * kDeviation / less);
    }
  }
}

}  // namespace

GptSizes gpt_sizes(const std::string& name) {
  const auto refused = [&](const std::string& why) {
    return ConfigError("model " + stencil::in_quotes(name) + ": " + why,
                       "use gpt:LAYERS,HEADS,WIDTH, for example gpt:4,4,128");
  };
  const char* at = name.data() + std::min(name.size(), name.find(':') + 1);
  const char* const end = name.data() + name.size();
  std::array<std::int64_t, 3> sizes{};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto [next, error] = std::from_chars(at, end, sizes[i]);
    const bool last = i + 1 == sizes.size();
    if (error != std::errc{} || (last ? next != end : next == end || *next != ',')) {
      throw refused("after the colon belong three numbers");
    }
    if (sizes[i] < 1 || sizes[i] > kMost) {
      throw refused(std::to_string(sizes[i]) + " is not from 1 to " + std::to_string(kMost));
    }
    at = last ? next : next + 1;
  }
  const auto [layers, heads, width] = sizes;
  if (width % heads != 0) {
    throw refused(std::to_string(heads) + " heads do not divide a width of " +
                  std::to_string(width));
  }
  return {layers, heads, width};
}

std::shared_ptr<Model> make_gpt(const LearnerOptions& options) {
  const GptSizes sizes = gpt_sizes(options.model);
  if (script_file(options.loss).empty()) check_usual_loss(options);
  const ExampleSpec& examples = options.examples;
  const ArraySpec& input = examples.input;
  if (input.type != ValueType::kInt64 || input.shape.size() != 1 || examples.target != input ||
      examples.classes < 1) {
    throw ConfigError("model '" + options.model +
                          "' foretells tokens, and an example of this data set is " +
                          in_words(input) + " with targets " + in_words(examples.target),
                      "use --data text:FILE, or a model of your own, --model script:FILE");
  }
  auto model = std::make_shared<Gpt>(sizes, input.shape[0], examples.classes);
  draw(*model, sizes.layers, options.seed);
  return model;
}

}  // namespace fast
