#include "tests/contract/learner/learner_contract.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "stencil/core/random.h"

namespace fast::testing {
namespace {

// Sixteen random examples whose targets can be told: images from their mean, and tokens from the
// one before.
struct Examples {
  explicit Examples(const ExampleSpec& spec) : labels(kCount * spec.target.values()) {
    const int seed = ::testing::UnitTest::GetInstance()->random_seed();
    ::testing::Test::RecordProperty("seed", seed);
    stencil::Random random(static_cast<std::uint64_t>(seed));
    const std::size_t values = spec.input.values();
    if (spec.input.type == ValueType::kInt64) {
      const auto classes = static_cast<std::uint64_t>(spec.classes);
      for (std::size_t i = 0; i < labels.size(); ++i) {
        tokens.push_back(static_cast<std::int64_t>(random.below(classes)));
        labels[i] = (tokens.back() + 1) % spec.classes;
      }
      return;
    }
    images.resize(kCount * values);
    for (std::size_t n = 0; n < labels.size(); ++n) {
      labels[n] = static_cast<std::int64_t>(n % static_cast<std::size_t>(spec.classes));
      for (std::size_t i = 0; i < values; ++i) {
        images[n * values + i] =
            static_cast<float>(random.uniform() - 0.5 + 0.5 * static_cast<double>(labels[n]));
      }
    }
  }
  [[nodiscard]] Batch batch() const {
    using Integers = std::span<const std::int64_t>;
    if (tokens.empty()) return {kCount, std::span<const float>(images), Integers(labels)};
    return {kCount, Integers(tokens), Integers(labels)};
  }

  static constexpr std::size_t kCount = 16;
  std::vector<float> images;  // or tokens
  std::vector<std::int64_t> tokens, labels;
};

// The values of the model, as a session reads them.
std::span<float> pulled(Learner& learner) {
  const std::span<float> values = learner.adapter().values();
  learner.adapter().pull(0, values.size());
  return values;
}

std::vector<float> copy_of(std::span<const float> values) {
  return {values.begin(), values.end()};
}

}  // namespace

LearnerOptions LearnerContract::options(std::uint64_t seed) {
  auto options = GetParam().options;
  options.examples = GetParam().examples;
  options.seed = seed;
  options.optimizer.learning_rate = 0.02;
  return options;
}

std::unique_ptr<Learner> LearnerContract::make(std::uint64_t seed) {
  return GetParam().make(options(seed));
}

TEST_P(LearnerContract, WhatIsWrittenToValuesIsWhatTheModelUses) {
  const auto learner = make();
  const Examples examples(GetParam().examples);
  const auto before = learner->evaluate(examples.batch());
  const auto values = pulled(*learner);
  const auto saved = copy_of(values);
  std::ranges::fill(values, 0.0F);
  learner->adapter().push(0, values.size());
  EXPECT_NEAR(learner->evaluate(examples.batch()).loss, std::log(4.0), 1e-6);
  std::ranges::copy(saved, values.begin());
  learner->adapter().push(0, values.size());
  const bool exact = std::ranges::none_of(learner->adapter().parameters(), [](const auto& slot) {
    return slot.type == stencil::ElementType::kF64;  // has more digits than values()
  });
  EXPECT_NEAR(learner->evaluate(examples.batch()).loss, before.loss, exact ? 0 : 1e-6);
}

TEST_P(LearnerContract, AStepChangesTheValuesInPlace) {
  const auto learner = make();
  const Examples examples(GetParam().examples);
  const auto before = pulled(*learner);
  const auto saved = copy_of(before);
  learner->train_step(examples.batch());
  const auto after = pulled(*learner);
  EXPECT_EQ(after.data(), before.data());
  EXPECT_NE(copy_of(after), saved);
}

TEST_P(LearnerContract, TrainingLowersTheLoss) {
  const auto learner = make();
  const Examples examples(GetParam().examples);
  const double first = learner->train_step(examples.batch()).loss;
  double last = first;
  // No longer than it takes: large models are among them.
  for (int i = 0; i < 30 && !(last < 0.7 * first); ++i) {
    last = learner->train_step(examples.batch()).loss;
  }
  EXPECT_LT(last, 0.7 * first);
}

TEST_P(LearnerContract, ANonFiniteLossIsReturnedAndNoStepIsMade) {
  const auto learner = make();
  Examples examples(GetParam().examples);
  if (examples.images.empty()) {
    pulled(*learner)[0] = std::numeric_limits<float>::infinity();
    learner->adapter().push(0, 1);
    examples.tokens[0] = 0;  // whose row of the first layer that is
  } else {
    examples.images[5] = std::numeric_limits<float>::quiet_NaN();
  }
  const auto saved = copy_of(pulled(*learner));
  const auto slots = learner->adapter().parameters();
  EXPECT_FALSE(std::isfinite(learner->train_step(examples.batch()).loss));
  const auto values = pulled(*learner);
  for (const auto& slot : slots) {
    if (slot.name.find("running_") != std::string::npos) continue;  // moved by the forward pass
    EXPECT_TRUE(std::equal(values.begin() + static_cast<std::ptrdiff_t>(slot.offset),
                           values.begin() + static_cast<std::ptrdiff_t>(slot.offset + slot.size),
                           saved.begin() + static_cast<std::ptrdiff_t>(slot.offset)))
        << slot.name;
  }
}

TEST_P(LearnerContract, EqualSeedsGiveEqualWeightsAndOthersOthers) {
  const auto one = make(7), same = make(7), other = make(8);
  EXPECT_EQ(copy_of(pulled(*one)), copy_of(pulled(*same)));
  EXPECT_NE(copy_of(pulled(*one)), copy_of(pulled(*other)));
}

TEST_P(LearnerContract, WritingAStateBackRestoresTheModel) {
  const auto learner = make();
  const Examples examples(GetParam().examples);
  for (int i = 0; i < 2; ++i) learner->train_step(examples.batch());
  const auto before = learner->evaluate(examples.batch());
  std::vector<std::vector<std::byte>> saved;
  for (const auto& tensor : learner->adapter().state()) {
    saved.emplace_back(tensor.bytes.begin(), tensor.bytes.end());
  }
  for (int i = 0; i < 3; ++i) learner->train_step(examples.batch());
  EXPECT_NE(learner->evaluate(examples.batch()).loss, before.loss);
  auto state = learner->adapter().state();
  ASSERT_EQ(state.size(), saved.size());
  for (std::size_t i = 0; i < state.size(); ++i) {
    std::ranges::copy(saved[i], state[i].bytes.begin());
  }
  EXPECT_EQ(learner->evaluate(examples.batch()).loss, before.loss);
}

}  // namespace fast::testing
