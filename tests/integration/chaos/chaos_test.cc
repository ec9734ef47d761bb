// Nine workers under random kills, freezes and returns, as fast as they can compute: they end well,
// agree, and have learnt.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fast/run/metrics_tail.h"
#include "stencil/core/random.h"
#include "tests/support/cifar_files.h"
#include "tests/support/faults.h"

namespace fast::testing {
namespace {

constexpr int kWorkers = 9;
constexpr std::chrono::seconds kWhole{500};

/// FAST_CHAOS_SEEDS ("41-60"), or one.
std::vector<int> seeds() {
  const char* const range = std::getenv("FAST_CHAOS_SEEDS");
  int first = 42, last = 42;
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
        "--epochs",        std::to_string(epochs_),
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
  double progress() {
    double most = 0;
    for (int rank = 0; rank < kWorkers; ++rank) {
      MetricsTail& tail =
          tails_.try_emplace(rank, run_.worker(rank) / "metrics.jsonl").first->second;
      (void)tail.poll();
      if (dead_.contains(rank) || !tail.progress()) continue;
      most = std::max(most, tail.progress()->progress);
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

  /// All that happens to the workers, in a run of so many epochs. Returns false where it was over,
  /// or nearly, before the last of them were back.
  bool schedule(int epochs);
  /// Whether the run is as good as over.
  bool nearly_over() { return progress() >= 0.8; }
  /// A worker has ended, which is right where the run is over. Returns false.
  bool ended_early() {
    EXPECT_TRUE(nearly_over()) << "a worker ended";
    return false;
  }
  /// Forgets a run.
  void clear() {
    for (auto& worker : workers_) worker.reset();
    for (auto* ranks : {&dead_, &frozen_}) ranks->clear();
    tails_.clear();
    std::filesystem::remove_all(run_.path());
  }

  int epochs_ = 0;
  TemporaryFolder folder_;
  std::map<int, MetricsTail> tails_;
  RunWatch run_{folder_.path() / "run"};
  std::vector<std::unique_ptr<Program>> workers_{kWorkers};
  std::set<int> dead_, frozen_;
  stencil::Random random_{static_cast<std::uint64_t>(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(Seeds, ChaosTest, ::testing::ValuesIn(seeds()),
                         ::testing::PrintToStringParamName());

bool ChaosTest::schedule(int epochs) {
  epochs_ = epochs;
  for (int rank = 0; rank < kWorkers; ++rank) start(rank);
  // One stands still before it trains: its neighbours wait for it, and others do not.
  const auto late = static_cast<int>(random_.below(kWorkers));
  EXPECT_TRUE(worker(late).wait_until([&] { return run_.port(late) != 0; }, kWhole));
  freeze(late);
  if (!until(0.05 + 0.2 * random_.uniform())) return ended_early();
  thaw(late);
  for (double at = progress(); at < 0.5; at += 0.005 + 0.05 * random_.uniform()) {
    if (!until(at)) return ended_early();
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
  return !nearly_over();
}

TEST_P(ChaosTest, nobody_is_torn_apart) {
  // On a quick machine a short run is over before all has happened.
  int epochs = 30;
  while (!schedule(epochs) && epochs < 30 * 64) {
    clear();
    epochs *= 4;
  }
  ASSERT_LT(progress(), 1) << "the run was over before all had happened";
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
