// A worker by dlib and one by LibTorch are neighbours in one run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "adapters/dlib/models/dlib_learner.h"
#include "adapters/torch/models/torch_learner.h"
#include "fast/session/session.h"
#include "tests/support/learner_examples.h"

namespace fast {
namespace {

using test::Examples;
using test::options_for;

constexpr ImageShape kShape{3, 8, 8, 4};
constexpr int kSteps = 12, kBatch = 8;

struct Worker {
  std::unique_ptr<Learner> learner;
  SessionOptions options;
  std::unique_ptr<Session> session;
  Agreement agreement = Agreement::kAlone;
};

SessionOptions session_options(int rank) {
  SessionOptions options;
  options.topology = "ring:2";
  options.rank = rank;
  options.listen = rank == 0 ? "127.0.0.1:0" : "";
  options.budget = 2 * kSteps * kBatch;
  return options;
}

void train(Worker& worker, std::uint64_t rank) {
  worker.session->join();
  for (std::uint64_t i = 0; i < kSteps; ++i) {
    const Examples examples(kShape, kBatch, 100 * rank + i);
    const StepResult step = worker.learner->train_step(examples.batch());
    worker.session->exchange({.samples = kBatch, .loss = step.loss});
  }
  worker.learner->begin_statistics();
  worker.learner->accumulate_statistics(Examples(kShape, kBatch, rank).batch());
  worker.agreement = worker.session->finish();
}

/// By name, since the frameworks list running statistics in orders of their own.
void expect_the_same(ModelAdapter& one, ModelAdapter& other) {
  auto theirs = other.state();
  for (const NamedTensor& tensor : one.state()) {
    if (tensor.dtype != "F32") continue;
    const auto found = std::ranges::find(theirs, tensor.name, &NamedTensor::name);
    ASSERT_NE(found, theirs.end()) << tensor.name;
    ASSERT_EQ(found->shape, tensor.shape) << tensor.name;
    const auto* a = reinterpret_cast<const float*>(tensor.bytes.data());
    const auto* b = reinterpret_cast<const float*>(found->bytes.data());
    for (std::size_t i = 0; i < tensor.bytes.size() / sizeof(float); ++i) {
      ASSERT_NEAR(a[i], b[i], 0.02 * (1 + std::abs(a[i]))) << tensor.name << " " << i;
    }
  }
}

class MixedRing : public ::testing::TestWithParam<const char*> {};

TEST_P(MixedRing, EndsWithOneModel) {
  LearnerOptions options = options_for(GetParam(), kShape);
  options.mix_buffers = true;
  Worker of_dlib{make_dlib_learner(options), session_options(0), nullptr};
  Worker of_torch{std::make_unique<TorchLearner>(options), session_options(1), nullptr};
  of_dlib.session = std::make_unique<Session>(of_dlib.learner->adapter(), of_dlib.options);
  of_torch.options.peers[0] = of_dlib.session->endpoint();
  of_torch.session = std::make_unique<Session>(of_torch.learner->adapter(), of_torch.options);
  {
    const std::jthread other([&] { train(of_torch, 1); });
    train(of_dlib, 0);
  }
  EXPECT_EQ(of_dlib.agreement, Agreement::kAgreed);
  EXPECT_EQ(of_torch.agreement, Agreement::kAgreed);
  expect_the_same(of_dlib.learner->adapter(), of_torch.learner->adapter());
}

INSTANTIATE_TEST_SUITE_P(Models, MixedRing, ::testing::Values("mlp", "resnet8"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace fast
