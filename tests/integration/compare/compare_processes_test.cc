// The comparison's strategies in real processes.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <thread>

#include "adapters/torch/models/model.h"
#include "bench/compare/cell_store.h"
#include "bench/compare/evaluator.h"
#include "bench/compare/real/participant.h"
#include "bench/compare/virtual/rounds.h"
#include "fast/run/safetensors.h"
#include "tests/integration/compare/real_run_fixture.h"

namespace fast::compare {
namespace {

constexpr int kRounds = 2;

class Waiting : public RealRun, public ::testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Strategies, Waiting,
                         ::testing::Values("allreduce", "parameter-server-sync", "stencil-sync"),
                         strategy_name);

TEST_P(Waiting, reaches_the_weights_of_its_reference_after_two_steps) {
  const Cell cell = cell_of(GetParam());
  const auto result =
      testing::run_program(FAST_COMPARE,
                           arguments(spec_of("[[strategy]]\nname = \"" + cell.strategy.name +
                                                 "\"\nlearning_rate = 0.05\n",
                                             "epochs = 2\n")),
                           {}, kPatience);
  ASSERT_EQ(result.code, 0) << result.out << result.err;

  const Split split = load_split(cell, {});
  const auto reference = make_round_strategy(cell, split);
  for (int round = 0; round < kRounds; ++round) {
    ASSERT_TRUE(reference->round(static_cast<double>(round) / kRounds, round + 1 == kRounds));
  }
  VirtualWorkers& workers = reference->workers();
  const auto learner = make_learner(cell, split.examples, 1);
  for (int rank = 0; rank < 4; ++rank) {
    const auto file = folder_.path() / "out" / "runs" / hash(cell) /
                      ("worker-" + std::to_string(rank)) / "model.safetensors";
    const SafetensorsFile saved = SafetensorsFile::open(file);
    for (const NamedTensor& tensor : learner->adapter().state()) {
      const TensorView* const from = saved.find(tensor.name);
      ASSERT_NE(from, nullptr) << tensor.name;
      std::ranges::copy(from->bytes, tensor.bytes.begin());
    }
    const auto ours = learner->adapter().values();
    const auto theirs = workers.all_weights()[workers.all_weights().size() == 1 ? 0 : rank];
    double off = 0, norm = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      off += std::pow(ours[i] - theirs[i], 2);
      norm += std::pow(theirs[i], 2);
    }
    EXPECT_LT(std::sqrt(off / norm), 1e-6) << rank;
  }
}

class StandIn : public RealRun, public ::testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Strategies, StandIn,
                         ::testing::Values("allreduce", "stencil-async", "stencil-sync",
                                           "parameter-server"),
                         strategy_name);

TEST_P(StandIn, waits_for_its_steps_sends_real_bytes_and_claims_no_accuracy) {
  const std::string spec =
      std::string("name = \"tested\"\n[job]\nmodel = \"resnet8\"\n") +
      "data = \"synthetic:512,64\"\nepochs = 1\n[time]\nkind = \"stand-in\"\n" +
      "step_seconds = 0.2\n[[condition]]\nname = \"uniform\"\n" +
      "topology = \"torus:2x2\"\n[[strategy]]\nname = \"" + GetParam() + "\"\n";
  const auto run = testing::run_program(FAST_COMPARE, arguments(spec), {}, kPatience);
  ASSERT_EQ(run.code, 0) << run.out << run.err;
  const auto all =
      nlohmann::json::parse(testing::read_text(folder_.path() / "out" / "results.json"));
  const auto& row = all["groups"][0]["rows"][0];
  EXPECT_TRUE(row["accuracy"].is_null());
  EXPECT_TRUE(row["curve"].empty());
  EXPECT_NEAR(row["samples"].get<double>(), 512, 4 * 32)
      << "those that do not wait are off by a step each at most";
  EXPECT_GE(row["seconds"]["mean"], 4 * 0.2) << "four steps each";
  EXPECT_GT(row["bytes_per_sample"]["mean"], 77000 * 4 / 128) << "a model in four steps at least";
}

TEST_F(RealRun, an_all_reduce_sends_what_its_ring_needs_as_the_kernel_counts_it) {
  Cell cell = cell_of("allreduce");
  cell.job.epochs = 40;
  const auto run = testing::run_program(
      FAST_COMPARE,
      arguments(
          spec_of("[[strategy]]\nname = \"allreduce\"\nlearning_rate = 0.05\n", "epochs = 40\n")),
      {}, kPatience);
  ASSERT_EQ(run.code, 0) << run.out << run.err;
  const auto result = CellStore(folder_.path() / "cells").find(cell);
  ASSERT_TRUE(result);
  const double rounds = result->samples / cell.job.batch / cell.workers();
  const double ring = 2 * (cell.workers() - 1) * result->model_bytes * rounds;
  EXPECT_GE(result->bytes, ring * (rounds - 1) / rounds) << "but what is not acknowledged yet";
  EXPECT_LE(result->bytes, 1.5 * ring) << "headers and meeting are small beside it";
}

// --slow stretches what a worker computes, not what it waits for others.
TEST_F(RealRun, an_all_reduce_tells_its_waiting_from_its_computing) {
  Cell cell = cell_of("allreduce");
  cell.condition.topology = "ring:2";
  cell.condition.slow = {{1, 20.0}};
  cell.time = TimeKind::kStandIn;
  cell.clockwork.step_seconds = 0.1;
  const ImageShape shape = image_shape(load_split(cell, {}).examples, cell.job.model);
  const std::vector<float> images(32 * shape.pixels(), 0.5F);
  const std::vector<std::int64_t> labels(32, 0);
  std::array<double, 2> waited{};
  const auto work = [&](int rank) {
    const Place place{.rank = rank, .workers = 2, .budget = 1, .meeting = folder_.path()};
    const Participant worker =
        make_participant(cell, place, make_learner(cell, shape, /*threads=*/1, rank));
    waited.at(rank) = worker.learner->train_step({images, labels}).waited;
  };
  std::jthread other(work, 1);
  work(0);
  other.join();
  EXPECT_GT(waited[0], 1) << "the other's step takes two seconds";
  EXPECT_LT(waited[1], 1);
}

}  // namespace
}  // namespace fast::compare
