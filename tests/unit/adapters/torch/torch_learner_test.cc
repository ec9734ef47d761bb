#include "adapters/torch/models/torch_learner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/flat/models/flat_learner.h"
#include "adapters/torch/models/model.h"
#include "adapters/torch/models/models.h"
#include "adapters/torch/models/plain_errors.h"
#include "fast/errors.h"
#include "stencil/core/text.h"
#include "tests/support/exchange_moves.h"
#include "tests/support/learner_examples.h"

namespace fast {
namespace {

using test::Examples;
using test::kCifar;
using test::options_for;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// One line that says what to do.
std::string plain_error(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), ::testing::Not(HasSubstr("\n")));
    EXPECT_THAT(error.what(), HasSubstr("; "));
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

TEST(TorchErrors, AnErrorOfLibTorchIsOneLineWithTheRemedy) {
  const ImageShape dot{1, 1, 1, 10};
  TorchLearner learner(options_for("resnet8", dot));
  EXPECT_THAT(plain_error([&] { (void)learner.train_step(Examples(dot, 1, 1).batch()); }),
              HasSubstr("use a larger batch"));
  const ImageShape small{1, 6, 6, 2};
  TorchLearner other(options_for("linear", small));
  Examples wrong(small, 4, 1);
  wrong.labels[0] = 7;
  EXPECT_THAT(plain_error([&] { (void)other.train_step(wrong.batch()); }), HasSubstr("LibTorch: "));
  EXPECT_THAT(plain_error([&] { (void)other.evaluate(wrong.batch()); }), HasSubstr("LibTorch: "));
}

TEST(TorchErrors, WhatTheMachineLacksIsNamedWithTheRemedy) {
  const ImageShape vast{1, 1 << 20, 1 << 20, 10};  // 40 TB of weights
  const auto kinds = torch_models();
  const auto linear = std::ranges::find(kinds, "linear", &ModelKind::name);
  EXPECT_THAT(plain_error([&] { (void)linear->make(options_for("linear", vast)); }),
              HasSubstr("out of memory: use a smaller batch or model"));
  EXPECT_THAT(libtorch_remedy("Unable to open /dev/urandom"), HasSubstr("give the container"));
  EXPECT_THAT(libtorch_remedy("[enforce fail at ThreadPool.cc:44] cpuinfo_initialize(). cpuinfo "
                              "initialization failed"),
              HasSubstr("mount them"));
}

TEST(TorchModels, HaveThePublishedNumbersOfParameters) {
  const std::map<std::string, std::size_t> expected{{"linear", 30730},
                                                    {"mlp", 820874},
                                                    {"resnet8", 75290},
                                                    {"resnet20", 269722},
                                                    {"resnet18", 11173962}};
  for (const std::string_view name : torch_model_names()) {
    ASSERT_TRUE(expected.contains(std::string(name))) << name << ": say how many it has";
    std::size_t found = 0;
    for (const auto& parameter : make_model(name, kCifar, 1)->parameters()) {
      found += static_cast<std::size_t>(parameter.numel());
    }
    EXPECT_EQ(found, expected.at(std::string(name))) << name;
  }
}

TEST(TorchModels, ManyThreadsAreForThoseThatGainByThem) {
  const Models models(torch_models());
  EXPECT_EQ(models.threads("resnet18", 8), 8);
  EXPECT_EQ(models.threads("resnet18", 0), 1);
  for (const char* const name : {"linear", "mlp", "resnet8", "resnet20"}) {
    EXPECT_EQ(models.threads(name, 8), 1) << name;
  }
}

TEST(TorchModels, TakeSmallGreyAndColouredImages) {
  for (const ImageShape& shape : {ImageShape{1, 28, 28, 10}, ImageShape{3, 16, 16, 4}, kCifar}) {
    for (const std::string_view name : torch_model_names()) {
      const auto learner = std::make_unique<TorchLearner>(options_for(std::string(name), shape));
      const Examples examples(shape, 2, 5);
      EXPECT_TRUE(std::isfinite(learner->evaluate(examples.batch()).loss)) << name;
    }
  }
}

TEST(TorchModels, AnUnknownNameIsRefusedAndTheKnownOnesListed) {
  const std::string all = stencil::listed(torch_model_names());
  EXPECT_THAT([] { (void)make_model("resnet9", kCifar, 1); },
              ThrowsMessage<ConfigError>(AllOf(HasSubstr("resnet9"), HasSubstr(all))));
}

TEST(TorchLearner, RefusesAnUnknownOptimizer) {
  auto options = options_for("linear", kCifar);
  options.optimizer.name = "adagrad";
  EXPECT_THAT([&] { (void)std::make_unique<TorchLearner>(options); },
              ThrowsMessage<ConfigError>(HasSubstr("adagrad")));
}

TEST(TorchLearner, LinearFollowsTheSamePathAsThePlainOne) {
  for (const std::string optimizer : {"sgd", "plain sgd", "adamw"}) {
    constexpr ImageShape kShape{3, 8, 8, 5};
    auto options = options_for("linear", kShape);
    options.optimizer.name = optimizer == "adamw" ? "adamw" : "sgd";
    options.optimizer.nesterov = optimizer != "plain sgd";
    const auto torch = std::make_unique<TorchLearner>(options);
    const auto flat = make_flat_learner(options);
    ASSERT_EQ(torch->adapter().parameters().size(), flat->adapter().parameters().size());
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(torch->adapter().parameters()[i].name, flat->adapter().parameters()[i].name);
      EXPECT_EQ(torch->adapter().parameters()[i].shape, flat->adapter().parameters()[i].shape);
    }
    EXPECT_TRUE(std::ranges::equal(torch->adapter().values(), flat->adapter().values()));
    for (std::uint64_t step = 0; step < 20; ++step) {
      const Examples examples(kShape, 16, step);
      const auto one = torch->train_step(examples.batch());
      const auto other = flat->train_step(examples.batch());
      EXPECT_NEAR(one.loss, other.loss, 1e-3) << optimizer << " step " << step;
    }
    const auto values = torch->adapter().values();
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(values[i], flat->adapter().values()[i], 1e-3) << optimizer;
    }
  }
}

/// Models, and what they take.
const std::vector<std::pair<std::string, ExampleSpec>>& models_of_all_forms() {
  static const std::vector<std::pair<std::string, ExampleSpec>> all = {
      {"resnet8", kCifar},
      {"mlp", kCifar},
      {"linear", kCifar},
      {"gpt:2,2,16", test::tokens_of(6, 20)}};
  return all;
}

TEST(TorchLearner, AStepMadeInTheBackwardPassIsTheSameToTheBit) {
  for (const auto& [model, spec] : models_of_all_forms()) {
    for (const std::string optimizer : {"sgd", "adamw"}) {
      SCOPED_TRACE(model + " " + optimizer);
      auto options = options_for(model, spec);
      options.optimizer.name = optimizer;
      options.mix_buffers = true;
      TorchLearner plain(options);
      options.overlap = true;
      TorchLearner overlapping(options);
      std::vector<std::size_t> told;
      overlapping.adapter().on_ready([&](std::size_t first) { told.push_back(first); });
      for (std::uint64_t step = 0; step < 4; ++step) {
        const Examples examples(spec, 4, step);
        told.clear();
        for (TorchLearner* learner : {&plain, &overlapping}) {
          learner->set_learning_rate(0.05);
          learner->train_step(examples.batch());
          // As if neighbours had moved it.
          for (float& value : learner->adapter().values()) value *= 1.001F;
        }
        EXPECT_TRUE(std::ranges::is_sorted(told, std::greater<>()));
        ASSERT_FALSE(told.empty());
        EXPECT_EQ(told.back(), 0U) << "all of it";
        EXPECT_GT(told.size(), 1U) << "in parts";
        ASSERT_TRUE(std::ranges::equal(plain.adapter().values(), overlapping.adapter().values()))
            << "step " << step;
      }
    }
  }
}

TEST(TorchLearner, WhatIsToldAsMadeInTheBackwardPassDoesNotChangeAnyMore) {
  auto options = options_for("resnet8", kCifar);
  options.overlap = true;
  TorchLearner learner(options);
  const std::span<const float> values = learner.adapter().values();
  std::vector<float> seen(values.begin(), values.end());
  std::size_t from = values.size();
  bool early = false;
  learner.adapter().on_ready([&](std::size_t first) {
    ASSERT_LT(first, from);
    // Values that are not ready yet are unchanged.
    early |= first > 0 && std::equal(values.begin(), values.begin() + 10, seen.begin());
    std::copy(values.begin() + static_cast<std::ptrdiff_t>(first),
              values.begin() + static_cast<std::ptrdiff_t>(from),
              seen.begin() + static_cast<std::ptrdiff_t>(first));
    from = first;
  });
  const Examples examples(kCifar, 4, 1);
  learner.train_step(examples.batch());
  EXPECT_TRUE(early);
  EXPECT_EQ(from, 0U);
  EXPECT_TRUE(std::ranges::equal(values, seen));
}

TEST(TorchLearner, EachLayerIsAskedForBeforeItIsUsedFromTheFirstToTheLast) {
  auto models = models_of_all_forms();
  models.emplace_back("resnet18", kCifar);
  for (const auto& [model, spec] : models) {
    SCOPED_TRACE(model);
    TorchLearner learner(options_for(model, spec));
    std::size_t end = 0, asked = 0;
    learner.adapter().on_needed([&](std::size_t first, std::size_t count) {
      EXPECT_EQ(first, end) << "end to end";
      end = first + count;
      ++asked;
    });
    const Examples examples(spec, 4, 1);
    learner.train_step(examples.batch());
    EXPECT_EQ(end, learner.adapter().values().size());
    EXPECT_GE(asked, model == "linear" ? 1U : 3U);
  }
}

TEST(TorchLearner, ALossThatIsNoNumberMakesNoPartOfAStep) {
  auto options = options_for("mlp", kCifar);
  options.overlap = true;
  TorchLearner learner(options);
  bool told = false;
  learner.adapter().on_ready([&](std::size_t) { told = true; });
  const std::span<const float> values = learner.adapter().values();
  const std::vector<float> before(values.begin(), values.end());
  Examples examples(kCifar, 4, 1);
  examples.images[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(std::isfinite(learner.train_step(examples.batch()).loss));
  EXPECT_FALSE(told);
  EXPECT_TRUE(std::ranges::equal(values, before));
}

TEST(TorchLearner, MomentumTakesInWhatNeighboursMovedTheModelBy) {
  const ImageShape shape{3, 8, 8, 5};
  const Examples one(shape, 16, 1), other(shape, 16, 2);
  bool nesterov = false;
  struct Trained {
    std::vector<float> moved, step;  ///< by the neighbour, and then by its own second step
  };
  // A neighbour takes back a share of its first step.
  const auto trained = [&](double share, float back, bool plain, double first_rate = 0.01) {
    auto options = options_for("linear", shape);
    options.optimizer.nesterov = nesterov;
    options.optimizer.momentum_correction = share;
    auto learner = plain ? make_flat_learner(options) : std::make_unique<TorchLearner>(options);
    const auto values = learner->adapter().values();
    const std::vector<float> initial(values.begin(), values.end());
    learner->set_learning_rate(first_rate);
    learner->train_step(one.batch());
    learner->set_learning_rate(0.01);
    const std::vector<float> stepped(values.begin(), values.end());
    test::move_by_exchange(learner->adapter(), [&](float value, std::size_t i) {
      return value + back * (initial[i] - stepped[i]);
    });
    const std::vector<float> before(values.begin(), values.end());
    learner->train_step(other.batch());
    Trained found;
    for (std::size_t i = 0; i < values.size(); ++i) {
      found.moved.push_back(before[i] - stepped[i]);
      found.step.push_back(values[i] - before[i]);
    }
    return found;
  };
  constexpr float kBack = 0.8F;
  for (const bool plain : {false, true}) {
    EXPECT_EQ(trained(0.5, 0, plain).step, trained(0, 0, plain).step) << "nobody moved it";
    EXPECT_EQ(trained(0.5, kBack, plain, 0).step, trained(0, kBack, plain, 0).step)
        << "a warm-up begins so";
    // Half of the move is now a part of the step before, of which nine tenths persist; with
    // Nesterov's, nine tenths of these again, since it is where momentum leads that counts.
    for (const bool ahead : {false, true}) {
      nesterov = ahead;
      const Trained uncorrected = trained(0, kBack, plain), corrected = trained(0.5, kBack, plain);
      const float decay = ahead ? 0.81F : 0.9F;
      for (std::size_t i = 0; i < corrected.step.size(); ++i) {
        ASSERT_NEAR(corrected.step[i] - uncorrected.step[i], decay * 0.5F * corrected.moved[i],
                    1e-6F)
            << plain << ahead;
      }
    }
    nesterov = false;
  }
}

// A correction of momentum acts for ten steps, and nothing opposes it where models meet seldom.
TEST(TorchLearner, CorrectedMomentumBearsThatModelsMeetSeldom) {
  const ImageShape shape{3, 8, 8, 5};
  // Squared distance of two learners with data of their own, summed over what remains of it.
  const auto apart = [&](double share, int steps_between, bool plain) {
    auto options = options_for("linear", shape);
    options.optimizer.momentum_correction = share;
    std::vector<std::unique_ptr<Learner>> pair;
    for (int i = 0; i < 2; ++i) {
      pair.push_back(plain ? make_flat_learner(options) : std::make_unique<TorchLearner>(options));
    }
    const auto a = pair[0]->adapter().values(), b = pair[1]->adapter().values();
    double sum = 0;
    for (int step = 1; step <= 240; ++step) {
      for (std::size_t i = 0; i < 2; ++i) {
        pair[i]->train_step(Examples(shape, 16, static_cast<std::uint64_t>(2 * step) + i).batch());
      }
      if (step % steps_between != 0) continue;
      std::vector<float> mean(a.size());
      for (std::size_t i = 0; i < a.size(); ++i) {
        if (step > 120) sum += (a[i] - b[i]) * (a[i] - b[i]);
        mean[i] = (a[i] + b[i]) / 2;
      }
      for (const auto& one : pair) {
        test::move_by_exchange(one->adapter(), [&](float, std::size_t i) { return mean[i]; });
      }
    }
    return sum;
  };
  for (const bool plain : {true, false}) {
    for (const int steps_between : {1, 2, 4, 10, 20}) {
      const double uncorrected = apart(0, steps_between, plain);
      ASSERT_GT(uncorrected, 0);
      EXPECT_LT(apart(0.5, steps_between, plain), 1.5 * uncorrected)
          << "averaged every " << steps_between << " steps" << (plain ? ", flat" : "");
    }
  }
}

}  // namespace
}  // namespace fast
