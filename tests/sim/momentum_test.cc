// Momentum that follows the exchange (fast/momentum.h) among workers of very unequal speeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <numbers>
#include <vector>

#include "fast/momentum.h"
#include "tests/support/sim_cases.h"

namespace stencil {
namespace {

constexpr std::size_t kFeatures = 2000;
constexpr double kRate = 1, kWarmup = 0.15;
constexpr std::uint64_t kSteps = 600;  // of a worker of speed 1

/// Logistic regression on examples drawn anew for each step, by SGD with Nesterov's momentum and
/// a schedule by what a worker knows of the progress of all.
class Classifier final : public sim::Objective {
 public:
  Classifier(int workers, double share, std::uint64_t seed)
      : share_(share), truth_(kFeatures), workers_(static_cast<std::size_t>(workers)) {
    Random random(Random::derive(seed, 1));
    for (double& value : truth_) value = 3 * random.normal() / std::sqrt(double{kFeatures});
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      workers_[i].random = Random(Random::derive(seed, 100 + i));
      workers_[i].momentum.resize(kFeatures);
    }
  }

  std::size_t dimension() const override { return kFeatures; }
  void initial(Rank, std::span<float> x) const override { std::ranges::fill(x, 0.0F); }

  void step(Rank rank, std::span<float> x) override {
    Worker& worker = workers_[static_cast<std::size_t>(rank)];
    const double rate = kRate * rate_at(simulation->telemetry(rank)[0] / kSteps);
    std::vector<double> gradient(kFeatures), example(kFeatures);
    constexpr int kBatch = 4;
    for (int k = 0; k < kBatch; ++k) {
      double score = 0, label = 0;
      for (std::size_t i = 0; i < kFeatures; ++i) {
        example[i] = worker.random.normal();
        score += x[i] * example[i];
        label += truth_[i] * example[i];
      }
      const double sign = label > 0 ? 1 : -1;
      const double slope = -sign / (1 + std::exp(std::clamp(sign * score, -50.0, 50.0))) / kBatch;
      for (std::size_t i = 0; i < kFeatures; ++i) gradient[i] += slope * example[i];
    }
    for (std::size_t i = 0; i < kFeatures; ++i) {
      worker.momentum[i] = static_cast<float>(0.9 * worker.momentum[i] + gradient[i]);
      x[i] -= static_cast<float>(rate * (gradient[i] + 0.9 * worker.momentum[i]));
    }
    if (share_ == 0) return;
    worker.following.stepped(worker.followers.of(0, kFeatures), ElementType::kF32,
                             worker.momentum.data(), {.rate = rate, .decay = 0.9, .share = share_});
  }
  Followers* followers(Rank rank) override {
    return &workers_[static_cast<std::size_t>(rank)].followers;
  }
  void model_replaced(Rank rank) override {
    Worker& worker = workers_[static_cast<std::size_t>(rank)];
    std::ranges::fill(worker.momentum, 0.0F);
    worker.followers.clear();
    worker.following = {};
    ++replaced;
  }
  /// The angle to the truth, in degrees: 0 for a perfect classifier, 90 by chance.
  double value(std::span<const float> x) const override {
    double product = 0, x2 = 0, truth2 = 0;
    for (std::size_t i = 0; i < kFeatures; ++i) {
      product += x[i] * truth_[i];
      x2 += double{x[i]} * x[i];
      truth2 += truth_[i] * truth_[i];
    }
    return std::acos(product / std::sqrt(x2 * truth2)) * 180 / std::numbers::pi;
  }

  sim::Simulation* simulation = nullptr;
  int replaced = 0;

 private:
  struct Worker {
    Random random{0};
    std::vector<float> momentum;
    fast::FollowingMomentum following;
    Followers followers;
  };
  static double rate_at(double progress) {
    if (progress < kWarmup) return progress / kWarmup;
    const double left = std::min(1.0, (progress - kWarmup) / (1 - kWarmup));
    return 0.5 * (1 + std::cos(std::numbers::pi * left));
  }

  double share_;
  std::vector<double> truth_;
  std::vector<Worker> workers_;
};

struct Case {
  const char* name;
  const char* topology = "torus:3x3";
  std::map<Rank, double> slow{};
  std::vector<sim::Freeze> freezes{};
  bool shared = false;     ///< they average in each other's memory
  Rank returns = kNoRank;  ///< killed after a fifth of the run, back after half of it
};
void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

struct Found {
  double angle = 0;
  int replaced = 0;
};

Found found(const Case& one, double share) {
  sim::SimulationConfig config = test::plain_config();
  config.topology = Topology::parse(one.topology);
  config.exchange.sweeps = 4;
  config.exchange.linger = 0.1;
  config.exchange.phase_lock = 0.15;
  config.link.latency = 1e-4;
  config.step_seconds = 0.1;
  config.step_jitter = 0.1;
  config.steps = kSteps;
  config.slow = one.slow;
  config.freezes = one.freezes;
  config.meet = true;
  config.adopt = true;
  config.seed = test::case_seed(9200);
  for (Rank rank = 0; one.shared && rank < config.topology.size(); ++rank) {
    for (const Rank other : config.topology.neighbours(rank)) config.shared.insert({rank, other});
  }
  Classifier objective(config.topology.size(), share, config.seed);
  sim::Simulation simulation(config, objective);
  objective.simulation = &simulation;
  const double end = 1.1 * simulation.end_time();
  if (one.returns != kNoRank) {
    simulation.run_until(0.2 * end);
    const sim::Saved saved = simulation.save(one.returns);
    simulation.kill(one.returns, sim::Death::kProcess);
    simulation.run_until(0.5 * end);
    simulation.restart(one.returns, &saved);
  }
  simulation.run_until(end);
  return {simulation.snapshot().objective, objective.replaced};
}

class MomentumRun : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(
    Speeds, MomentumRun,
    ::testing::Values(
        Case{.name = "equal"}, Case{.name = "one_4", .slow = {{4, 4}}},
        Case{.name = "one_10", .slow = {{4, 10}}}, Case{.name = "one_100", .slow = {{4, 100}}},
        Case{.name = "one_1000", .slow = {{4, 1000}}},
        Case{.name = "three_100", .slow = {{1, 100}, {4, 100}, {6, 100}}},
        Case{.name = "ring_200_100", .topology = "ring:4", .slow = {{1, 200}, {3, 100}}},
        Case{.name = "shared_equal", .shared = true},
        Case{.name = "shared_one_4", .slow = {{4, 4}}, .shared = true},
        Case{.name = "shared_one_100", .slow = {{4, 100}}, .shared = true},
        Case{.name = "shared_three_100", .slow = {{1, 100}, {4, 100}, {6, 100}}, .shared = true},
        Case{.name = "frozen", .freezes = {{2, 4, 14}, {4, 12, 22}, {6, 20, 30}, {0, 3, 4}}},
        Case{.name = "shared_frozen",
             .freezes = {{2, 4, 14}, {4, 12, 22}, {6, 20, 30}, {0, 3, 4}},
             .shared = true},
        Case{.name = "returns", .returns = 4}),
    [](const auto& info) { return info.param.name; });

/// As near to the truth as without the correction, or nearly: never torn apart.
TEST_P(MomentumRun, IsNoWorseForFollowing) {
  const double plain = found(GetParam(), 0).angle;
  const Found corrected = found(GetParam(), 0.5);
  std::cout << plain << " degrees without the correction, " << corrected.angle << " with it\n";
  EXPECT_LT(corrected.angle, 1.1 * plain);
  EXPECT_EQ(corrected.replaced, GetParam().returns == kNoRank ? 0 : 1);
}

}  // namespace
}  // namespace stencil
