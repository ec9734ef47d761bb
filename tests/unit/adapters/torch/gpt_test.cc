#include "adapters/torch/models/gpt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "adapters/torch/models/models.h"
#include "fast/errors.h"
#include "tests/support/learner_examples.h"

namespace fast {
namespace {

using test::options_for;
using test::tokens_of;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::int64_t kLength = 8, kWidth = 16, kTokens = 20;

LearnerOptions gpt(const std::string& name = "gpt:2,4,16") {
  return options_for(name, tokens_of(kLength, kTokens));
}

TEST(Gpt, HasTheParametersOfItsSizes) {
  std::int64_t found = 0;
  for (const auto& parameter : make_model(gpt())->parameters()) found += parameter.numel();
  constexpr std::int64_t kBlock = 12 * kWidth * kWidth + (3 + 1 + 4 + 1 + 4) * kWidth;
  EXPECT_EQ(found, (2 * kTokens + kLength) * kWidth + 2 * kBlock + 2 * kWidth);
}

TEST(Gpt, ATokenSeesItselfAndThoseBeforeIt) {
  const torch::NoGradGuard no_grad;
  const auto model = make_model(gpt());
  const torch::Tensor tokens = torch::arange(kLength).view({1, kLength});
  const torch::Tensor before = model->forward(tokens);
  EXPECT_EQ(before.sizes(), torch::IntArrayRef({1, kLength, kTokens}));
  for (std::int64_t changed = 0; changed < kLength; ++changed) {
    torch::Tensor other = tokens.clone();
    other[0][changed] = 19;
    const torch::Tensor after = model->forward(other);
    for (std::int64_t at = 0; at < kLength; ++at) {
      EXPECT_EQ(torch::equal(after[0][at], before[0][at]), at < changed) << changed << " at " << at;
    }
  }
}

TEST(Gpt, BeginsWithGpt2sWeightsOfTheSeed) {
  LearnerOptions options = gpt("gpt:2,4,64");
  const auto model = make_model(options), same = make_model(options);
  options.seed = 9;
  const auto other = make_model(options);
  const auto parameters = model->named_parameters(), equal = same->named_parameters();
  for (const auto& item : parameters) {
    const torch::Tensor& values = item.value();
    EXPECT_TRUE(torch::equal(values, equal[item.key()])) << item.key();
    if (values.dim() < 2) {
      EXPECT_TRUE(
          values.eq(item.key().find("bias") == std::string::npos ? 1 : 0).all().item<bool>());
      continue;
    }
    EXPECT_FALSE(torch::equal(values, other->named_parameters()[item.key()])) << item.key();
    const bool added = item.key().find("mixed") != std::string::npos ||
                       item.key().find("out") != std::string::npos;
    EXPECT_NEAR(values.std().item<double>(), added ? 0.01 : 0.02, added ? 0.001 : 0.002)
        << item.key();
  }
}

TEST(Gpt, WhatItCannotBeIsRefusedByNameAndRemedy) {
  LearnerOptions images = gpt();
  images.examples = test::kCifar;
  LearnerOptions unknown = gpt();
  unknown.examples.classes = 0;
  LearnerOptions numbers = gpt();
  numbers.loss = "bce";
  const std::vector<std::pair<LearnerOptions, std::string>> refused = {
      {gpt("gpt:2,3,64"), "3 heads do not divide a width of 64"},
      {gpt("gpt:0,1,64"), "0 is not from 1 to 65536"},
      {gpt("gpt:1,1,65537"), "65537 is not from 1 to 65536"},
      {gpt("gpt:1,2"), "after the colon belong three numbers"},
      {gpt("gpt:1,2,4,8"), "after the colon belong three numbers"},
      {gpt("gpt:1,2,x"), "after the colon belong three numbers"},
      {images, "foretells tokens, and an example of this data set is float32 [3, 32, 32]"},
      {unknown, "foretells tokens"},
      {numbers, "is trained by cross_entropy alone, and not by bce"}};
  for (const auto& [options, expected] : refused) {
    EXPECT_THAT([&given = options] { (void)make_model(given); },
                ThrowsMessage<ConfigError>(
                    AllOf(HasSubstr(options.model), HasSubstr(expected), HasSubstr("; use "))));
  }
}

}  // namespace
}  // namespace fast
