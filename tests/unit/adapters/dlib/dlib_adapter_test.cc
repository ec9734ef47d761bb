#include "adapters/dlib/dlib_adapter.h"

#include <dlib/dnn/input.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "adapters/dlib/dlib_layers.h"

namespace fast {
namespace {

using dlib::relu;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Net =
    dlib::fc<3, relu<dlib::bn_con<dlib::con<4, 3, 3, 2, 2, dlib::input<dlib::matrix<float>>>>>>;

void compute(Net& net, int images, float value) {
  const std::vector<dlib::matrix<float>> batch(
      static_cast<std::size_t>(images),
      dlib::matrix<float>(dlib::uniform_matrix<float>(9, 9, value)));
  dlib::resizable_tensor input;
  net.to_tensor(batch.begin(), batch.end(), input);
  net.forward(input);
}

struct Model {
  Model() { compute(net, 1, 0); }
  Net net;
};

std::string message(const auto& call) {
  try {
    call();
  } catch (const AdapterError& error) {
    return error.what();
  }
  return "no error";
}

NamedTensor tensor_of(ModelAdapter& adapter, const std::string& name) {
  for (NamedTensor& tensor : adapter.state()) {
    if (tensor.name == name) return tensor;
  }
  ADD_FAILURE() << "no " << name;
  return {};
}

std::int64_t counted(ModelAdapter& adapter) {
  std::int64_t count = 0;
  std::memcpy(&count, tensor_of(adapter, "bn1.num_batches_tracked").bytes.data(), sizeof count);
  return count;
}

std::vector<std::string> names(ModelAdapter& adapter) {
  std::vector<std::string> names;
  for (const ParameterSlot& slot : adapter.parameters()) names.push_back(slot.name);
  return names;
}

TEST(DlibAdapter, ParametersAreNamedFromTheInputOnWithDlibsShapes) {
  Model model;
  DlibAdapter adapter(dlib_layers(model.net), {.mix_buffers = false});
  EXPECT_THAT(names(adapter), ElementsAre("con1.weight", "con1.bias", "bn1.weight", "bn1.bias",
                                          "fc1.weight", "fc1.bias"));
  const auto slots = adapter.parameters();
  EXPECT_THAT(slots[0].shape, ElementsAre(4, 1, 3, 3));
  EXPECT_THAT(slots[4].shape, ElementsAre(4 * 4 * 4, 3));
  EXPECT_EQ(tensor_of(adapter, "bn1.running_var").role, Role::kAveraged);
  EXPECT_EQ(tensor_of(adapter, "bn1.num_batches_tracked").role, Role::kCarried);
}

TEST(DlibAdapter, RunningStatisticsHaveSlotsWhereTheyAreAveraged) {
  Model model;
  DlibAdapter adapter(dlib_layers(model.net), {.names = {"conv", "norm", "last"}});
  EXPECT_EQ(names(adapter).back(), "mean of norm.running_var");
  EXPECT_EQ(adapter.values().size(), adapter.trained() + 8);
}

TEST(DlibAdapter, WhatCannotBeAttachedIsRefusedByNameWithARemedy) {
  Net net;
  EXPECT_THAT(message([&] { (void)dlib_layers(net); }), HasSubstr("net(sample)"));
  Model model;
  EXPECT_THAT(message([&] { DlibAdapter(dlib_layers(model.net), {.names = {"one"}}); }),
              HasSubstr("3 layers with parameters, and there are 1 names"));
  dlib::visit_computational_layers(
      model.net, [](auto& layer) { dlib::set_learning_rate_multiplier(layer, 0); });
  EXPECT_THAT(message([&] { DlibAdapter(dlib_layers(model.net)); }),
              HasSubstr("no parameters that are trained"));
}

TEST(DlibAdapter, LayersWithoutALearningRateAreCarried) {
  Model model;
  dlib::layer<3>(model.net).layer_details().set_learning_rate_multiplier(0);
  DlibAdapter adapter(dlib_layers(model.net), {.mix_buffers = false});
  EXPECT_THAT(names(adapter), ElementsAre("bn1.weight", "bn1.bias", "fc1.weight", "fc1.bias"));
  EXPECT_EQ(tensor_of(adapter, "con1.weight").role, Role::kCarried);
}

TEST(DlibAdapter, ANetworkThatIsLoadedFromAFileIsFollowed) {
  Model model, other;
  DlibAdapter adapter(dlib_layers(model.net));
  for (float& value : dlib::layer<0>(other.net).layer_details().get_layer_params()) value = 7;
  std::stringstream file;
  serialize(other.net, file);
  deserialize(model.net, file);
  const auto values = adapter.values();
  adapter.pull(0, values.size());
  EXPECT_EQ(values[adapter.trained() - 1], 7);

  Net of_other_images;
  const dlib::matrix<float> larger = dlib::zeros_matrix<float>(20, 20);
  dlib::resizable_tensor input;
  of_other_images.to_tensor(&larger, &larger + 1, input);
  of_other_images.forward(input);
  std::stringstream other_file;
  serialize(of_other_images, other_file);
  deserialize(model.net, other_file);
  EXPECT_THAT(message([&] { (void)adapter.values(); }),
              HasSubstr("'fc1.weight' has another size than when it was attached"));
}

TEST(DlibAdapter, TheCounterOfBatchNormIsReadAndWritten) {
  Model model;
  DlibAdapter adapter(dlib_layers(model.net));
  EXPECT_EQ(counted(adapter), 0);
  compute(model.net, 4, 1);
  compute(model.net, 4, 1);
  EXPECT_EQ(counted(adapter), 2);
  const std::int64_t saved = 50;
  std::memcpy(tensor_of(adapter, "bn1.num_batches_tracked").bytes.data(), &saved, sizeof saved);
  (void)adapter.values();
  compute(model.net, 4, 1);
  EXPECT_EQ(counted(adapter), 51);
}

TEST(DlibAdapter, StatisticsAreTheMeanOverBatchesAndTheWindowComesBack) {
  Model model;
  DlibAdapter adapter(dlib_layers(model.net));
  const auto mean = [&] {
    float value = 0;
    std::memcpy(&value, tensor_of(adapter, "bn1.running_mean").bytes.data(), sizeof value);
    return value;
  };
  adapter.begin_statistics();
  compute(model.net, 4, 1);
  const float of_one = mean();
  compute(model.net, 4, 3);
  compute(model.net, 4, 5);
  EXPECT_NEAR(mean(), 3 * of_one, 1e-5);  // the convolution is linear in the images
  adapter.end_statistics();
  auto& norm = dlib::layer<2>(model.net).layer_details();
  EXPECT_EQ(norm.get_running_stats_window_size(), 100U);
}

// dlib gives them other memory in the first batch of all.
TEST(DlibAdapter, WhatIsAveragedAtTheEndAreTheStatisticsOfThen) {
  Model model;
  DlibAdapter adapter(dlib_layers(model.net));
  const auto mean = [&] {
    float value = 0;
    std::memcpy(&value, tensor_of(adapter, "bn1.running_mean").bytes.data(), sizeof value);
    return value;
  };
  adapter.begin_statistics();
  compute(model.net, 4, 1);
  for (Resumable* const part : adapter.parts()) part->finishing();
  const std::span<float> values = adapter.values();
  EXPECT_EQ(values[adapter.trained()], mean());
  EXPECT_NE(mean(), 0);
  adapter.begin_statistics();
  compute(model.net, 4, 2);
  values[adapter.trained()] = 42;
  for (Resumable* const part : adapter.parts()) part->finished(true);
  EXPECT_EQ(mean(), 42);
}

}  // namespace
}  // namespace fast
