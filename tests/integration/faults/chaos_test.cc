// Nine workers under random kills, freezes and returns, as fast as they can compute: they end well,
// agree, and have learnt.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stencil/core/random.h"
#include "tests/support/cifar_files.h"
#include "tests/support/faults.h"

namespace fast::testing {
namespace {

constexpr int kWorkers = 9;
constexpr std::chrono::seconds kWhole{500};

/// FAST_CHAOS_SEEDS ("41-60"), or a few.
std::vector<int> seeds() {
  const char* const range = std::getenv("FAST_CHAOS_SEEDS");
  int first = 41, last = 43;
  if (range != nullptr && std::sscanf(range, "%d-%d", &first, &last) != 2) first = last + 1;
  std::vector<int> out;
  for (int seed = first; seed <= last; ++seed) out.push_back(seed);
  return out;
}

class ChaosTest : public ::testing::TestWithParam<int> {
 protected:
  void start(int rank) {
    const std::string folder = run_.path().string();
    std::vector<std::string> arguments = {
        "--topology",      "torus:3x3",
        "--rank",          std::to_string(rank),
        "--run-id",        "chaos",
        "--listen",        "127.0.0.1:0",
        "--peer-template", "file:" + folder + "/worker-{rank}/endpoint",
        "--model",         "mlp",
        "--data",          "synthetic:20000,500",
        "--epochs",        "30",
        "--threads",       "1",
        "--gone-after",    "20",
        "--report-every",  "0.1",
        "--out",           folder,
        "--quiet"};
    auto& worker = workers_[static_cast<std::size_t>(rank)];
    worker = std::make_unique<Program>(FAST_WORKER, arguments);
  }
  Program& worker(int rank) { return *workers_[static_cast<std::size_t>(rank)]; }

  /// Of the whole run, as far as any worker that still runs has told.
  [[nodiscard]] double progress() const {
    double most = 0;
    for (int rank = 0; rank < kWorkers; ++rank) {
      if (dead_.contains(rank)) continue;
      const auto lines = run_.history(rank).progress;
      if (!lines.empty()) most = std::max(most, lines.back().progress);
    }
    return most;
  }
  /// Waits until the run has come so far. Returns false where a worker ends before.
  bool until(double share) {
    int some = 0;
    while (dead_.contains(some) || frozen_.contains(some)) ++some;
    return worker(some).wait_until([&] { return progress() >= share; }, kWhole);
  }
  template <typename Set>
  std::optional<int> any_of(const Set& ranks) {
    if (ranks.empty()) return std::nullopt;
    return *std::next(ranks.begin(), static_cast<std::ptrdiff_t>(random_.below(ranks.size())));
  }
  [[nodiscard]] std::set<int> running() const {
    std::set<int> out;
    for (int rank = 0; rank < kWorkers; ++rank) {
      if (!dead_.contains(rank) && !frozen_.contains(rank)) out.insert(rank);
    }
    return out;
  }

  void kill_one() {
    if (running().size() <= 5) return;
    const int rank = *any_of(running());
    worker(rank).signal(SIGKILL);
    (void)worker(rank).wait(kWhole);
    dead_.insert(rank);
    note("kill", rank);
  }
  void freeze_one() {
    if (running().size() > 5) freeze(*any_of(running()));
  }
  void freeze(int rank) {
    worker(rank).signal(SIGSTOP);
    frozen_.insert(rank);
    note("freeze", rank);
  }
  void thaw(int rank) {
    worker(rank).signal(SIGCONT);
    frozen_.erase(rank);
    note("thaw", rank);
  }
  void restart(int rank) {
    dead_.erase(rank);
    start(rank);
    note("restart", rank);
  }
  void note(const char* what, int rank) {
    std::cout << what << ' ' << rank << " at " << progress() << std::endl;
  }

  TemporaryFolder folder_;
  RunWatch run_{folder_.path() / "run"};
  std::vector<std::unique_ptr<Program>> workers_{kWorkers};
  std::set<int> dead_, frozen_;
  stencil::Random random_{static_cast<std::uint64_t>(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(Seeds, ChaosTest, ::testing::ValuesIn(seeds()),
                         ::testing::PrintToStringParamName());

TEST_P(ChaosTest, nobody_is_torn_apart) {
  for (int rank = 0; rank < kWorkers; ++rank) start(rank);
  // One stands still before it trains: its neighbours wait for it, and others do not.
  const auto late = static_cast<int>(random_.below(kWorkers));
  ASSERT_TRUE(worker(late).wait_until([&] { return run_.port(late) != 0; }, kWhole));
  freeze(late);
  ASSERT_TRUE(until(0.05 + 0.2 * random_.uniform())) << "a worker ended";
  thaw(late);
  for (double at = progress(); at < 0.5; at += 0.005 + 0.05 * random_.uniform()) {
    ASSERT_TRUE(until(at)) << "a worker ended";
    switch (random_.below(4)) {
      case 0:
        kill_one();
        break;
      case 1:
        freeze_one();
        break;
      case 2:
        if (const auto rank = any_of(dead_)) restart(*rank);
        break;
      default:
        if (const auto rank = any_of(frozen_)) thaw(*rank);
    }
  }
  for (const int rank : std::set<int>(frozen_)) thaw(rank);
  for (const int rank : std::set<int>(dead_)) restart(rank);
  for (int rank = 0; rank < kWorkers; ++rank) {
    const ProgramResult result = worker(rank).wait(kWhole);
    EXPECT_FALSE(result.timed_out) << rank;
    EXPECT_EQ(result.code, 0) << rank << ": " << result.err;
  }
  const ProgramResult report = run_program(
      FAST_PROGRAM,
      {"report", run_.path().string(), "--model", "mlp", "--data", "synthetic:20000,500"}, {},
      kWhole);
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_GT(run_.summary()["test_accuracy"]["mean_model"].get<double>(), 0.75);
}

}  // namespace
}  // namespace fast::testing
