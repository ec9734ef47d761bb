// The comparison's strategies in real processes.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <future>
#include <thread>

#include "adapters/torch/models/model.h"
#include "bench/compare/cell.h"
#include "bench/compare/cell_store.h"
#include "bench/compare/evaluator.h"
#include "bench/compare/real/participant.h"
#include "bench/compare/spec.h"
#include "bench/compare/virtual/rounds.h"
#include "fast/exit_codes.h"
#include "fast/run/safetensors.h"
#include "tests/support/cifar_files.h"
#include "tests/support/faults.h"

namespace fast::compare {
namespace {

using ::fast::testing::kPatience;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kRounds = 2;

Cell cell_of(const std::string& strategy) {
  Cell cell;
  cell.job.model = "mlp";
  cell.job.data = "synthetic:192,64";
  cell.job.validation = 64;
  cell.job.epochs = 2;  // of 128 examples: two rounds of four times 32
  cell.condition.topology = "torus:2x2";
  cell.strategy = usual_strategy(strategy);
  cell.strategy.learning_rate = 0.05;
  choose_sweeps(cell.strategy, cell.condition.topology);
  return cell;
}

std::string spec_of(const std::string& strategies, const std::string& job) {
  return "name = \"tested\"\n[job]\nmodel = \"mlp\"\ndata = \"synthetic:192,64\"\nvalidation = "
         "64\n" +
         job + "[[condition]]\nname = \"uniform\"\ntopology = \"torus:2x2\"\n" + strategies;
}

class RealRun : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> arguments(const std::string& spec) const {
    std::ofstream(folder_.path() / "spec.toml") << spec;
    return {(folder_.path() / "spec.toml").string(),
            "--out",
            (folder_.path() / "out").string(),
            "--cells",
            (folder_.path() / "cells").string(),
            "--deadline",
            "10"};
  }
  testing::TemporaryFolder folder_;
};

class Waiting : public RealRun, public ::testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Strategies, Waiting,
                         ::testing::Values("allreduce", "parameter-server-sync", "stencil-sync"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

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
  const auto learner = make_learner(cell, split.training.train.shape, 1);
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

TEST_F(RealRun, a_finished_matrix_is_not_made_again_and_gives_the_same_table) {
  const auto all = arguments(
      spec_of("[[strategy]]\nname = \"stencil-async\"\n[[strategy]]\nname = \"parameter-server\"\n"
              "[[strategy]]\nname = \"local\"\n[[strategy]]\nname = \"single\"\n",
              "epochs = 8\n"));
  const auto first = testing::run_program(FAST_COMPARE, all, {}, kPatience);
  ASSERT_EQ(first.code, 0) << first.out << first.err;
  EXPECT_THAT(first.err, HasSubstr("4 of them to be made"));
  for (const char* const file : {"report.html", "results.json", "results.csv", "table.md"}) {
    EXPECT_TRUE(std::filesystem::exists(folder_.path() / "out" / file)) << file;
  }
  const std::string table = testing::read_text(folder_.path() / "out" / "table.md");
  const auto second = testing::run_program(FAST_COMPARE, all, {}, kPatience);
  EXPECT_THAT(second.err, HasSubstr("0 of them to be made"));
  EXPECT_EQ(testing::read_text(folder_.path() / "out" / "table.md"), table);
}

TEST_F(RealRun, what_is_finished_can_be_shown_without_making_the_rest) {
  const std::string job = "[[strategy]]\nname = \"local\"\n";
  auto all = arguments(spec_of(job, "epochs = 2\n"));
  all.emplace_back("--finished");
  const auto nothing = testing::run_program(FAST_COMPARE, all, {}, kPatience);
  EXPECT_EQ(nothing.code, static_cast<int>(ExitCode::kFailure));
  EXPECT_THAT(nothing.err, HasSubstr("no cell was finished; leave --finished out to make them"));
  all.pop_back();
  ASSERT_EQ(testing::run_program(FAST_COMPARE, all, {}, kPatience).code, 0);

  all = arguments(spec_of(job + "[[strategy]]\nname = \"allreduce\"\n", "epochs = 2\n"));
  all.emplace_back("--finished");
  const auto half = testing::run_program(FAST_COMPARE, all, {}, kPatience);
  EXPECT_EQ(half.code, 0) << half.err;
  EXPECT_THAT(half.out, HasSubstr("1 of 2 cells are finished; the same command without "
                                  "--finished makes the rest"));
}

TEST_F(RealRun, an_interrupted_matrix_ends_soon_keeps_what_is_finished_and_goes_on_with_the_rest) {
  const auto strategy = [](const std::string& epochs, const std::string& condition) {
    return "[[strategy]]\nname = \"stencil-async\"\nepochs = " + epochs + "\nconditions = [\"" +
           condition + "\"]\n";
  };
  const auto all =
      arguments(spec_of(strategy("2", "uniform") + strategy("100000000", "endless"), "") +
                "[[condition]]\nname = \"endless\"\ntopology = \"torus:2x2\"\n");
  const auto cells = [this] {
    const auto folder = folder_.path() / "cells";
    if (!std::filesystem::exists(folder)) return std::ptrdiff_t{0};
    return std::distance(std::filesystem::directory_iterator(folder), {});
  };
  testing::Program first(FAST_COMPARE, all);
  const auto under_way = [&] {
    return first.err().find("begin  stencil-async on torus:2x2, endless") != std::string::npos;
  };
  ASSERT_TRUE(first.wait_until(under_way, kPatience)) << first.err();
  ASSERT_EQ(cells(), 1);
  first.signal(SIGINT);
  const auto ended = first.wait(kPatience);
  EXPECT_EQ(ended.code, static_cast<int>(ExitCode::kInterrupted)) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("start it again to go on"));
  EXPECT_EQ(cells(), 1) << "what was interrupted counts for nothing";

  auto rest = all;
  rest.insert(rest.end(), {"--hours", "1e-9"});
  const auto second = testing::run_program(FAST_COMPARE, rest, {}, kPatience);
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.err, HasSubstr("1 of them to be made"));
  EXPECT_THAT(second.out, HasSubstr("1 of 2 cells are finished"));
}

TEST_F(RealRun, a_quick_one_needs_no_spec_and_keeps_its_cells_where_it_is_told) {
  const std::string cells = (folder_.path() / "cells").string();
  std::vector<std::string> quick = {
      "--quick", "--out", (folder_.path() / "out").string(), "--cells", cells, "--hours", "1e-9"};
  const auto planned = testing::run_program(FAST_COMPARE, quick, {}, kPatience);
  EXPECT_EQ(planned.code, static_cast<int>(ExitCode::kFailure));
  EXPECT_THAT(planned.err, AllOf(HasSubstr("quick: 6 cells, 6 of them to be made"),
                                 HasSubstr("no cell was finished; give it more --hours")));
  quick.insert(quick.end(), {"--slow", "2:6"});
  const auto one_condition = testing::run_program(FAST_COMPARE, quick, {}, kPatience);
  EXPECT_THAT(one_condition.err, HasSubstr("quick: 3 cells, 3 of them to be made"));
}

TEST_F(RealRun, two_conditions_that_are_one_keep_their_own_clock) {
  const std::string condition = "topology = \"torus:2x2\"\nslow = {\"1\" = 4}\n";
  auto all_arguments = arguments(
      "name = \"tested\"\n[job]\nmodel = \"resnet8\"\ndata = \"synthetic:512,64\"\n"
      "epochs = 1\n[time]\nkind = \"virtual\"\nstep_seconds = 1\n"
      "[[condition]]\nname = \"one\"\n" +
      condition + "[[condition]]\nname = \"the same\"\n" + condition +
      "[[strategy]]\nname = \"stencil-async\"\n");
  all_arguments.insert(all_arguments.end(), {"-j", "1"});  // the second finds the first's cell
  const auto run = testing::run_program(FAST_COMPARE, all_arguments, {}, kPatience);
  ASSERT_EQ(run.code, 0) << run.out << run.err;
  const auto all =
      nlohmann::json::parse(testing::read_text(folder_.path() / "out" / "results.json"));
  for (const auto& group : all["groups"]) {
    // 16 steps of a second, of which the slow worker makes one in thirteen; in step they take 16 s.
    EXPECT_LT(group["rows"][0]["curve"].back()["seconds"].get<double>(), 10);
  }
}

class StandIn : public RealRun, public ::testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Strategies, StandIn,
                         ::testing::Values("allreduce", "stencil-async", "stencil-sync",
                                           "parameter-server"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

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
  const ImageShape shape = load_split(cell, {}).training.train.shape;
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

/// A learner's step with a gradient that is somebody else's.
void step_by(TorchLearner& learner, TorchLearner& with_gradient) {
  const torch::NoGradGuard no_grad;
  auto own = learner.model().parameters();
  const auto theirs = with_gradient.model().parameters();
  for (std::size_t i = 0; i < own.size(); ++i) own[i].grad().copy_(theirs[i].grad());
  learner.update();
}

TEST_F(RealRun, a_neighbours_gradient_is_one_more_step_of_the_optimizer) {
  Cell cell = cell_of("stencil-gradients");
  cell.condition.topology = "ring:2";
  const ImageShape shape = load_split(cell, {}).training.train.shape;
  const auto learner = [&](int rank) { return make_learner(cell, shape, /*threads=*/1, rank); };
  const auto join = [&](int rank) {
    const Place place{.rank = rank, .workers = 2, .budget = 1, .meeting = folder_.path()};
    return make_participant(cell, place, learner(rank));
  };
  auto other = std::async(std::launch::async, join, 1);
  const Participant receiver = join(0);
  const Participant sender = other.get();
  const std::vector<float> images(32 * shape.pixels(), 0.5F);
  const std::vector<std::int64_t> ours(32, 0), theirs(32, 1);

  (void)sender.learner->train_step({images, theirs});
  const auto gradient = learner(1);
  gradient->clear_gradients();
  (void)gradient->backward({images, theirs});

  const auto alone = learner(0);
  const auto apart = [&] {
    double most = 0;
    const auto a = receiver.learner->adapter().values(), b = alone->adapter().values();
    for (std::size_t i = 0; i < a.size(); ++i) most = std::max<double>(most, std::abs(a[i] - b[i]));
    return most;
  };
  EXPECT_TRUE(testing::eventually([&] {
    (void)receiver.learner->train_step({images, ours});
    (void)alone->train_step({images, ours});
    return apart() > 1e-6;
  })) << "it has not come";
  step_by(*alone, *gradient);
  EXPECT_LT(apart(), 1e-6);
}

TEST_F(RealRun, neighbours_that_trade_gradients_send_each_to_each_neighbour) {
  Cell cell = cell_of("stencil-gradients");
  const auto run = testing::run_program(
      FAST_COMPARE,
      arguments(spec_of("[[strategy]]\nname = \"stencil-gradients\"\nlearning_rate = 0.05\n",
                        "epochs = 2\n")),
      {}, kPatience);
  ASSERT_EQ(run.code, 0) << run.out << run.err;
  const auto result = CellStore(folder_.path() / "cells").find(cell);
  ASSERT_TRUE(result);
  EXPECT_GE(result->samples, 2 * 128);
  EXPECT_LE(result->samples, 3 * 128) << "what is under way is not counted yet";
  EXPECT_EQ(result->bytes, result->samples / 32 * 2 * result->model_bytes);
  EXPECT_TRUE(result->mean_model.has_value());
}

TEST_F(RealRun, neighbours_that_trade_gradients_make_what_a_slow_one_does_not) {
  Cell cell = cell_of("stencil-gradients");
  cell.job.epochs = 50;
  cell.strategy.learning_rate = 0.001;
  cell.condition.slow = {{1, 50.0}};
  auto told = arguments(spec_of(
      "[[strategy]]\nname = \"stencil-gradients\"\nlearning_rate = 0.001\n", "epochs = 50\n"));
  told.insert(told.end(), {"--slow", "1:50"});
  const auto run = testing::run_program(FAST_COMPARE, told, {}, kPatience);
  ASSERT_EQ(run.code, 0) << run.out << run.err;
  const testing::RunWatch folder(folder_.path() / "out" / "runs" / hash(cell));
  std::uint64_t all = 0;
  for (int rank = 0; rank < 4; ++rank) {
    const WorkerHistory history = folder.history(rank);
    ASSERT_FALSE(history.progress.empty());
    all += history.progress.back().samples;
    if (rank == 1) {
      EXPECT_LT(history.progress.back().samples, 50 * 128 / 10);
    }
  }
  EXPECT_GE(all, 50 * 128);
  EXPECT_LE(all, 1.1 * 50 * 128);
}

/// Have all four made a step?
bool all_step(const testing::RunWatch& run) {
  for (int rank = 0; rank < 4; ++rank) {
    if (run.step(rank) == 0) return false;
  }
  return true;
}

TEST_F(RealRun, a_killed_worker_ends_an_all_reduce_with_a_clear_error) {
  testing::Program program(FAST_COMPARE, arguments(spec_of("[[strategy]]\nname = \"allreduce\"\n",
                                                           "epochs = 100000\n")));
  const testing::RunWatch run(folder_.path() / "out" / "runs" / hash([] {
                                Cell cell = cell_of("allreduce");
                                cell.strategy.learning_rate = 0.1;
                                cell.job.epochs = 100000;
                                return cell;
                              }()));
  ASSERT_TRUE(program.wait_until([&] { return all_step(run); }, kPatience)) << program.err();
  kill(testing::worker_pids(program.pid())[2], SIGKILL);
  const auto result = program.wait(kPatience);
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("failed: "));
  EXPECT_THAT(result.out, HasSubstr("allreduce (1 of 1 failed)"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "cells")) << "it will be made again";
  const WorkerHistory history = run.history(0);
  ASSERT_TRUE(history.end);
  EXPECT_EQ(history.end->exit_code, 10) << history.end->text;
  EXPECT_THAT(history.end->text, HasSubstr("a worker is gone"));
}

class Unsynchronised : public RealRun, public ::testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Strategies, Unsynchronised,
                         ::testing::Values("stencil-async", "stencil-gradients"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(Unsynchronised, a_killed_worker_ends_a_stencil_run_well) {
  const std::string spec =
      spec_of(std::string("[[strategy]]\nname = \"") + GetParam() + "\"\nlearning_rate = 0.001\n",
              "epochs = 400\n");
  const Cell cell = parse_spec(spec, "spec.toml").cells.front();
  testing::Program program(FAST_COMPARE, arguments(spec));
  const testing::RunWatch run(folder_.path() / "out" / "runs" / hash(cell));
  ASSERT_TRUE(program.wait_until([&] { return all_step(run); }, kPatience)) << program.err();
  kill(testing::worker_pids(program.pid())[2], SIGKILL);
  const auto result = program.wait(kPatience);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("(1 worker lost)"));
  EXPECT_FALSE(CellStore(folder_.path() / "cells").find(cell)) << "it is not what the cell says";
  const auto all =
      nlohmann::json::parse(testing::read_text(folder_.path() / "out" / "results.json"));
  const auto& row = all["groups"][0]["rows"][0];
  EXPECT_EQ(row["curve"].size(), 10U) << "of those that were left";
  EXPECT_FALSE(row["accuracy"].is_null());
}

TEST_F(RealRun, a_measured_step_says_of_which_images_it_is) {
  const std::vector<std::string> measure{"measure", "--model", "mlp", "--batch", "4"};
  const auto synthetic =
      testing::run_program(FAST_COMPARE, measure, {{"FAST_CIFAR10_DIR", ""}}, kPatience);
  EXPECT_EQ(synthetic.code, 0) << synthetic.err;
  EXPECT_THAT(synthetic.out, HasSubstr("mlp, batch 4 of synthetic, 3x16x16, on one core"));

  testing::write_cifar10(folder_.path() / "cifar", 5, 20, 20);
  std::vector<std::string> of_cifar = measure;
  of_cifar.insert(of_cifar.end(), {"--cifar10", (folder_.path() / "cifar").string()});
  const auto real = testing::run_program(FAST_COMPARE, of_cifar, {}, kPatience);
  EXPECT_EQ(real.code, 0) << real.err;
  EXPECT_THAT(real.out, HasSubstr("mlp, batch 4 of cifar10, 3x32x32, on one core"));
}

TEST_F(RealRun, what_the_data_cannot_give_fails_before_anything_runs) {
  for (const char* const job : {"examples = 500\n", "examples = 32\n"}) {
    const auto result = testing::run_program(
        FAST_COMPARE, arguments(spec_of("[[strategy]]\nname = \"local\"\n", job)), {}, kPatience);
    EXPECT_EQ(result.code, 2);
    EXPECT_THAT(result.err, AllOf(HasSubstr("spec.toml:2: [job]"), HasSubstr("192")));
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "out"));
  }
}

TEST_F(RealRun, a_bad_spec_fails_before_anything_runs) {
  const auto result = testing::run_program(
      FAST_COMPARE, arguments(spec_of("[[strategy]]\nname = \"allreduse\"\n", "")), {}, kPatience);
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("spec.toml:10"));
  EXPECT_THAT(result.err, HasSubstr("allreduse"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "out"));
}

}  // namespace
}  // namespace fast::compare
