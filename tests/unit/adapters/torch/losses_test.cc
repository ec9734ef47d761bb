#include "adapters/torch/models/losses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fast/errors.h"

namespace fast {
namespace {

using ::testing::HasSubstr;

ExampleSpec numbers(std::vector<std::int64_t> shape) {
  ExampleSpec examples;
  examples.target = {ValueType::kFloat32, std::move(shape)};
  return examples;
}

ExampleSpec tokens(std::int64_t length) {
  ExampleSpec examples;
  examples.target = {ValueType::kInt64, {length}};
  return examples;
}

TEST(Losses, ANumberEachIsNotBroadcast) {
  const auto outputs = torch::tensor({{1.0F}, {2.0F}, {5.0F}});
  const auto targets = torch::tensor({1.0F, 0.0F, 2.0F});
  const Loss& mse = find_loss("mse", numbers({}));
  EXPECT_FLOAT_EQ(mse.of(outputs, targets).item<float>(), (0 + 4 + 9) / 3.0F);
  EXPECT_FLOAT_EQ(find_loss("l1", numbers({})).of(outputs, targets).item<float>(), 5 / 3.0F);
  EXPECT_FALSE(mse.correct);
}

TEST(Losses, OfSequencesEachTokenCounts) {
  const Loss& loss = find_loss("cross_entropy", tokens(2));
  // Two examples of two tokens out of three.
  const auto outputs = torch::zeros({2, 2, 3});
  outputs[0][0][2] = 50;
  outputs[0][1][1] = 50;
  outputs[1][0][0] = 50;
  const auto targets = torch::tensor({{2L, 0L}, {0L, 1L}});
  EXPECT_NEAR(loss.of(outputs, targets).item<double>(), (0 + 50 + 0 + std::log(3.0)) / 4, 1e-5);
  EXPECT_EQ(loss.correct(outputs, targets), 2);
}

TEST(Losses, LogitsOfZeroAndOne) {
  const Loss& loss = find_loss("bce", numbers({2}));
  const auto outputs = torch::tensor({{9.0F, -9.0F}, {0.5F, 0.5F}});
  const auto targets = torch::tensor({{1.0F, 0.0F}, {0.0F, 1.0F}});
  EXPECT_EQ(loss.correct(outputs, targets), 3);
  EXPECT_GT(loss.of(outputs, targets).item<double>(), 0);
  EXPECT_EQ(find_loss("bce", tokens(1)).correct(torch::ones({2, 1}), torch::ones({2, 1})), 2);
}

std::string refusal(std::string_view name, const ExampleSpec& examples) {
  try {
    return std::string(find_loss(name, examples).name);
  } catch (const ConfigError& error) {
    return error.what();
  }
}

TEST(Losses, WhatDoesNotFitTheTargetsIsRefused) {
  EXPECT_THAT(refusal("hinge", numbers({})), HasSubstr("cross_entropy"));
  EXPECT_THAT(refusal("cross_entropy", numbers({3})), HasSubstr("float32 [3]"));
  EXPECT_THAT(refusal("mse", tokens(4)), HasSubstr("int64 [4]"));
  EXPECT_EQ(refusal("bce", tokens(4)), "bce");
}

TEST(Losses, OutputsThatDoNotFitAreRefused) {
  const ExampleSpec examples = numbers({3});
  const Loss& loss = find_loss("mse", examples);
  EXPECT_NO_THROW(check_outputs(loss, torch::zeros({2, 3}), torch::zeros({2, 3}), examples, "it"));
  EXPECT_THROW(check_outputs(loss, torch::zeros({2, 1}), torch::zeros({2, 3}), examples, "it"),
               ConfigError);
  EXPECT_THROW(check_outputs(loss, torch::zeros({2, 3}, torch::kInt64), torch::zeros({2, 3}),
                             examples, "it"),
               ConfigError);
  const ExampleSpec sequence = tokens(5);
  EXPECT_THROW(check_outputs(find_loss("cross_entropy", sequence), torch::zeros({2, 4, 7}),
                             torch::zeros({2, 5}), sequence, "it"),
               ConfigError);
}

}  // namespace
}  // namespace fast
