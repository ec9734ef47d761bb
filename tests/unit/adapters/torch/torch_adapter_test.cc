#include "adapters/torch/torch_adapter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>
#include <torch/serialize.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace fast {
namespace {

namespace nn = torch::nn;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::vector<std::string> names(const ModelAdapter& adapter) {
  std::vector<std::string> result;
  for (const auto& slot : adapter.parameters()) result.push_back(slot.name);
  return result;
}

/// A module of loose tensors.
struct Loose : nn::Module {
  torch::Tensor parameter(const std::string& name, torch::Tensor value, bool trained = true) {
    return register_parameter(name, std::move(value), trained);
  }
  torch::Tensor buffer(const std::string& name, torch::Tensor value) {
    return register_buffer(name, std::move(value));
  }
};

nn::Sequential small_net() {
  return nn::Sequential(nn::Linear(4, 6), nn::Linear(6, 2));
}

/// Two modules with equal values.
nn::Sequential copy_of(nn::Sequential& net) {
  auto other = small_net();
  torch::NoGradGuard no_grad;
  const auto from = net->parameters();
  const auto to = other->parameters();
  for (std::size_t i = 0; i < from.size(); ++i) to[i].copy_(from[i]);
  return other;
}

void train(nn::Sequential& net, torch::optim::Optimizer& optimizer, int steps, int first = 0) {
  for (int i = first; i < first + steps; ++i) {
    const auto x = torch::linspace(-1 + 0.1 * i, 1, 12).view({3, 4});
    optimizer.zero_grad();
    net->forward(x).pow(2).sum().backward();
    optimizer.step();
  }
}

std::vector<float> values_of(nn::Sequential& net) {
  std::vector<float> result;
  for (const auto& parameter : net->parameters()) {
    const auto flat = parameter.detach().flatten();
    result.insert(result.end(), flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
  }
  return result;
}

TEST(TorchAdapter, ParametersBecomeViewsOfOneVectorAndKeepTheirValues) {
  auto net = small_net();
  const auto before = values_of(net);
  TorchAdapter adapter(*net);
  EXPECT_THAT(names(adapter), ElementsAre("0.weight", "0.bias", "1.weight", "1.bias"));
  const auto values = adapter.values();
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()), before);
  EXPECT_EQ(net->parameters()[0].data_ptr<float>(), values.data());
  EXPECT_TRUE(net->parameters()[0].requires_grad());
  values[0] = 42;
  EXPECT_EQ(net->parameters()[0][0][0].item<float>(), 42);
}

TEST(TorchAdapter, TheModuleLivesOnWhenTheAdapterIsGone) {
  auto net = small_net();
  const auto before = values_of(net);
  { TorchAdapter adapter(*net); }
  EXPECT_EQ(values_of(net), before);
}

TEST(TorchAdapter, OptimizersMadeBeforeAndAfterFollowTheUnattachedTrajectoryBitForBit) {
  for (const bool adam : {false, true}) {
    for (const int attach_at : {0, 3}) {
      const auto make = [&](nn::Sequential& net) -> std::unique_ptr<torch::optim::Optimizer> {
        if (adam) return std::make_unique<torch::optim::AdamW>(net->parameters(), 0.01);
        return std::make_unique<torch::optim::SGD>(
            net->parameters(), torch::optim::SGDOptions(0.01).momentum(0.9).weight_decay(1e-3));
      };
      auto before = small_net();
      auto after = copy_of(before);
      auto plain = copy_of(before);
      auto plain_optimizer = make(plain);
      train(plain, *plain_optimizer, 8);

      auto optimizer_before = make(before);
      train(before, *optimizer_before, attach_at);
      TorchAdapter adapter_before(*before);
      train(before, *optimizer_before, 8 - attach_at, attach_at);
      EXPECT_EQ(values_of(before), values_of(plain));
      EXPECT_EQ(adapter_before.values().data(), before->parameters()[0].data_ptr<float>());

      TorchAdapter adapter_after(*after);
      auto optimizer_after = make(after);
      train(after, *optimizer_after, 8);
      EXPECT_EQ(values_of(after), values_of(plain));
    }
  }
}

TEST(TorchAdapter, TheSameTensorUnderTwoNamesIsExchangedOnceAndStaysTied) {
  nn::Linear shared(3, 3);
  nn::Sequential net(shared, shared);
  TorchAdapter adapter(*net);
  EXPECT_THAT(names(adapter), ElementsAre("0.weight", "0.bias"));
  EXPECT_EQ(adapter.values().size(), 12U);
  EXPECT_EQ(adapter.state().size(), 2U);
}

TEST(TorchAdapter, AliasesOfOneMemoryStayTiedWhateverTheirTensorImplOrShape) {
  Loose module;
  const auto memory = torch::arange(6, torch::kFloat32).view({2, 3});
  auto a = module.parameter("a", memory);
  auto between = module.parameter("between", torch::ones({2}));
  auto b = module.parameter("b", memory.detach());
  auto turned = module.parameter("turned", memory.detach().t());
  auto frozen = module.parameter("frozen", memory.detach(), false);
  auto buffer = module.buffer("buffer", memory.detach());
  TorchAdapter adapter(module);
  EXPECT_THAT(names(adapter), ElementsAre("a", "between"));
  EXPECT_EQ(adapter.values().size(), 8U);
  adapter.values()[1] = 9;
  EXPECT_EQ(a[0][1].item<float>(), 9);
  EXPECT_EQ(b[0][1].item<float>(), 9);
  EXPECT_EQ(turned[1][0].item<float>(), 9);
  EXPECT_EQ(frozen[0][1].item<float>(), 9);
  EXPECT_EQ(buffer[0][1].item<float>(), 9);
  EXPECT_EQ(turned.size(0), 3);
  EXPECT_EQ(adapter.state().size(), 2U);
}

TEST(TorchAdapter, NeighboursInOneStorageAreNotTied) {
  Loose module;
  const auto memory = torch::arange(6, torch::kFloat32);
  module.parameter("a", memory.slice(0, 0, 3).detach());
  module.parameter("b", memory.slice(0, 3, 6).detach());
  TorchAdapter adapter(module);
  EXPECT_THAT(names(adapter), ElementsAre("a", "b"));
  EXPECT_EQ(adapter.values()[4], 4);
}

TEST(TorchAdapter, PartlyOverlappingMemoryIsRefusedByName) {
  Loose module;
  const auto memory = torch::arange(6, torch::kFloat32);
  module.parameter("low", memory.slice(0, 0, 4).detach());
  const auto high = module.parameter("high", memory.slice(0, 3, 6).detach());
  const auto* before = high.data_ptr();
  EXPECT_THAT([&] { TorchAdapter adapter(module); },
              ThrowsMessage<AdapterError>(AllOf(HasSubstr("low"), HasSubstr("high"))));
  EXPECT_EQ(high.data_ptr(), before) << "nothing is moved by a refused attach";
}

TEST(TorchAdapter, FrozenParametersStayWhereTheyAre) {
  auto net = small_net();
  auto first = net->parameters()[0];
  first.requires_grad_(false);
  const auto* before = first.data_ptr();
  TorchAdapter adapter(*net);
  EXPECT_THAT(names(adapter), ElementsAre("0.bias", "1.weight", "1.bias"));
  EXPECT_EQ(first.data_ptr(), before);
  EXPECT_EQ(adapter.state().size(), 4U);
}

TEST(TorchAdapter, ParametersThatAreNotContiguousAreMadeSoInTheOrderOfTheirShape) {
  Loose module;
  auto a = module.parameter("a", torch::arange(6, torch::kFloat32).view({2, 3}).t());
  TorchAdapter adapter(module);
  EXPECT_TRUE(a.is_contiguous());
  EXPECT_THAT(adapter.values(), ElementsAre(0, 3, 1, 4, 2, 5));
}

TEST(TorchAdapter, RefusesByNameWhatCannotBeExchanged) {
  const auto refuses = [](torch::Tensor value, const std::string& what) {
    Loose module;
    module.parameter("fine", torch::ones({2}));
    module.parameter("bad", std::move(value));
    EXPECT_THAT([&] { TorchAdapter adapter(module); },
                ThrowsMessage<AdapterError>(AllOf(HasSubstr("'bad'"), HasSubstr(what))));
  };
  refuses(torch::ones({2}, torch::kComplexFloat), "ComplexFloat");
  refuses(torch::empty({2}, torch::kMeta), "meta");
  refuses(torch::ones({2, 2}).to_sparse(), "Sparse");
  refuses(torch::ones({1}).expand({3}), "expanded");
}

TEST(TorchAdapter, OtherFloatsStayWhereTheyAreAndAreCopied) {
  Loose module;
  auto half = module.parameter("half", torch::ones({3}, torch::kBFloat16));
  auto wide = module.parameter("wide", torch::full({2}, 1 + 1e-12, torch::kFloat64));
  auto tied = module.parameter("tied", half.detach());
  const void* const before = half.data_ptr();
  TorchAdapter adapter(module);
  EXPECT_EQ(half.data_ptr(), before);
  EXPECT_EQ(tied.data_ptr(), before);
  ASSERT_EQ(adapter.values().size(), 5U) << "tied ones once";
  adapter.pull(0, 5);
  EXPECT_THAT(adapter.values(), ElementsAre(1, 1, 1, 1, 1));
  adapter.values()[1] = 1.5F;
  adapter.values()[4] = 2;
  adapter.push(0, 5);
  EXPECT_EQ(tied[1].item<float>(), 1.5F);
  EXPECT_EQ(wide[0].item<double>(), 1 + 1e-12);
  EXPECT_NEAR(wide[1].item<double>(), 2 + 1e-12, 1e-15);
  EXPECT_EQ(adapter.offset_of(wide), 3U);
}

TEST(TorchAdapter, OtherFloatsThatAreReplacedAreFollowedOrRefusedByName) {
  Loose module;
  auto half = module.parameter("half", torch::ones({2, 3}, torch::kBFloat16));
  TorchAdapter adapter(module);
  half.set_data(torch::full({3, 2}, 2, torch::kBFloat16).t());
  ASSERT_EQ(adapter.values().size(), 6U);
  adapter.pull(0, 6);
  EXPECT_THAT(adapter.values(), ElementsAre(2, 2, 2, 2, 2, 2));
  half.set_data(torch::ones({2, 3}));
  EXPECT_THAT([&] { (void)adapter.values(); },
              ThrowsMessage<AdapterError>(AllOf(HasSubstr("'half'"), HasSubstr("of type Float"))));
}

TEST(TorchAdapter, TiedFloatsOfOtherTypesThatAreTornApartAreRefused) {
  Loose module;
  auto a = module.parameter("a", torch::ones({2}, torch::kFloat64));
  auto b = module.parameter("b", a.detach());
  TorchAdapter adapter(module);
  b.set_data(torch::ones({2}, torch::kFloat64));
  EXPECT_THAT([&] { (void)adapter.values(); },
              ThrowsMessage<AdapterError>(AllOf(HasSubstr("'b'"), HasSubstr("tie it again"))));
}

TEST(TorchAdapter, TakesAListOfTensorsInPlaceOfAModule) {
  const auto weight = torch::full({2}, 3.0F).requires_grad_();
  const auto count = torch::full({1}, 7, torch::kInt64);
  TorchAdapter adapter({{"weight", weight, true}, {"count", count, false}});
  EXPECT_EQ(names(adapter), std::vector<std::string>{"weight"});
  EXPECT_THAT(adapter.values(), ElementsAre(3, 3));
  adapter.values()[1] = 4;
  EXPECT_EQ(weight[1].item<float>(), 4);
  EXPECT_EQ(adapter.state().size(), 2U);
}

TEST(TorchAdapter, AModuleWithoutTrainableParametersIsRefused) {
  Loose module;
  EXPECT_THROW(TorchAdapter adapter(module), AdapterError);
  module.parameter("frozen", torch::ones({2}), false);
  EXPECT_THAT([&] { TorchAdapter adapter(module); },
              ThrowsMessage<AdapterError>(HasSubstr("register_module")));
}

TEST(TorchAdapter, EmptyParametersTakeNoPlace) {
  Loose module;
  module.parameter("none", torch::empty({0, 3}));
  module.parameter("some", torch::ones({2}));
  TorchAdapter adapter(module);
  EXPECT_EQ(adapter.parameters().size(), 2U);
  EXPECT_EQ(adapter.values().size(), 2U);
  EXPECT_EQ(adapter.state().size(), 2U);
}

TEST(TorchAdapter, RunningStatisticsHavePlacesOfTheirOwnInTheVectorAndCountersDoNot) {
  nn::Sequential net(nn::Conv2d(1, 2, 3), nn::BatchNorm2d(2));
  TorchAdapter plain(*net);
  EXPECT_EQ(plain.values().size(), 2U * 9 + 2 + 4);
  TorchAdapter mixed(*net, {.mix_buffers = true, .log = {}});
  EXPECT_EQ(mixed.values().size(), 2U * 9 + 2 + 4 + 4);
  EXPECT_EQ(names(mixed).back(), "mean of 1.running_var");
  for (const auto& tensor : mixed.state()) {
    const bool counter = tensor.name == "1.num_batches_tracked";
    EXPECT_EQ(tensor.dtype, counter ? "I64" : "F32");
    EXPECT_EQ(tensor.role, counter                              ? Role::kCarried
                           : tensor.name.starts_with("1.runni") ? Role::kAveraged
                                                                : Role::kTrained);
  }
  const std::vector<float> before(mixed.values().begin(), mixed.values().end());
  net->train();
  net->forward(torch::randn({4, 1, 8, 8}));
  EXPECT_EQ(std::vector<float>(mixed.values().begin(), mixed.values().end()), before);
}

TEST(TorchAdapter, ALoadedModelIsTakenOverWithOneLogLine) {
  auto net = small_net();
  auto other = small_net();
  TorchAdapter other_adapter(*other);
  std::stringstream file;
  torch::save(other, file);
  EXPECT_LT(file.str().size(), 16384U) << "the flat vector is not written once per parameter";
  std::vector<std::string> lines;
  TorchAdapter adapter(*net, {.mix_buffers = false, .log = [&](auto, std::string_view line) {
                                lines.emplace_back(line);
                              }});
  const auto* before = adapter.values().data();
  EXPECT_TRUE(lines.empty());
  torch::load(net, file);
  EXPECT_NE(net->parameters()[0].data_ptr<float>(), before);
  const auto values = adapter.values();
  EXPECT_EQ(values.data(), before);
  EXPECT_EQ(net->parameters()[0].data_ptr<float>(), before);
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()), values_of(other));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_THAT(lines[0], AllOf(HasSubstr("4 of 4"), HasSubstr("0.weight")));
  (void)adapter.values();
  EXPECT_EQ(lines.size(), 1U);
}

TEST(TorchAdapter, ConversionsThereAndBackAreFollowedAndOthersRefusedByName) {
  auto net = small_net();
  TorchAdapter adapter(*net);
  const auto* before = adapter.values().data();
  net->to(torch::kFloat32);
  EXPECT_EQ(net->parameters()[0].data_ptr<float>(), before);
  net->to(torch::kFloat64);
  EXPECT_THAT([&] { (void)adapter.values(); },
              ThrowsMessage<AdapterError>(AllOf(HasSubstr("'0.weight'"), HasSubstr("Double"))));
  net->to(torch::kFloat32);
  EXPECT_EQ(adapter.values().data(), before);
  EXPECT_EQ(net->parameters()[0].data_ptr<float>(), before);
}

TEST(TorchAdapter, AReplacementOfAnotherShapeIsRefusedByName) {
  auto net = small_net();
  TorchAdapter adapter(*net);
  net->parameters()[2].set_data(torch::zeros({3, 6}));
  EXPECT_THAT([&] { (void)adapter.values(); },
              ThrowsMessage<AdapterError>(AllOf(HasSubstr("'1.weight'"), HasSubstr("[3, 6]"))));
}

TEST(TorchAdapter, TiesSurviveAReplacementOfOneEndAndRefuseTwoDifferentOnes) {
  Loose module;
  const auto memory = torch::zeros({2});
  auto a = module.parameter("a", memory);
  auto b = module.parameter("b", memory.detach());
  TorchAdapter adapter(module);
  b.set_data(torch::ones({2}));
  EXPECT_THAT(adapter.values(), ElementsAre(1, 1));
  EXPECT_EQ(a.data_ptr(), b.data_ptr());
  a.set_data(torch::full({2}, 2.0F));
  b.set_data(torch::full({2}, 2.0F));
  EXPECT_THAT(adapter.values(), ElementsAre(2, 2));
  EXPECT_EQ(a.data_ptr(), b.data_ptr());
  b.set_data(torch::full({2}, 3.0F));
  a.set_data(torch::full({2}, 4.0F));
  EXPECT_THAT([&] { (void)adapter.values(); },
              ThrowsMessage<AdapterError>(AllOf(HasSubstr("'a'"), HasSubstr("'b'"))));
}

TEST(TorchAdapter, StateNamesEachTypeAndFollowsBuffersThatAreNotContiguous) {
  Loose module;
  module.parameter("w", torch::ones({2}));
  module.parameter("half", torch::ones({2}, torch::kFloat16), false);
  auto turned = module.buffer("turned", torch::arange(6).view({2, 3}).t());
  module.buffer("flag", torch::ones({1}, torch::kBool));
  module.buffer("byte", torch::ones({1}, torch::kUInt8));
  module.buffer("brain", torch::ones({1}, torch::kBFloat16));
  module.buffer("double", torch::ones({1}, torch::kFloat64));
  TorchAdapter adapter(module);
  std::vector<std::string> types;
  for (const auto& tensor : adapter.state()) types.push_back(tensor.dtype);
  EXPECT_THAT(types, ElementsAre("F32", "F16", "I64", "BOOL", "U8", "BF16", "F64"));
  EXPECT_TRUE(turned.is_contiguous());
  EXPECT_EQ(turned[0][1].item<int>(), 3);
}

}  // namespace
}  // namespace fast
