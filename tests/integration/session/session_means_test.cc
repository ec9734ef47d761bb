// One number that all workers share, for decisions that all should take alike.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <filesystem>

#include "fast/errors.h"
#include "fast/session/exchange.h"
#include "tests/integration/session/session_fixture.h"
#include "tests/support/cifar_files.h"

namespace fast {
namespace {

using ::testing::HasSubstr;

using MeansModeTest = SessionModeTest;
using MeansTest = SessionTest;

TEST_P(MeansModeTest, AllWorkersReadTheSameMean) {
  constexpr int kWorkers = 4, kRounds = 100;
  const bool lock_step = GetParam() == std::string("sync");
  std::array<std::atomic<bool>, kWorkers> known{};
  in_threads(kWorkers, [&](int rank) {
    Quadratic worker(rank);
    SessionOptions options = this->options("torus:2x2", rank, GetParam());
    options.means = rank % 2 == 0 ? "accuracy,val_loss" : "val_loss,accuracy";
    Session session(worker.adapter, options);
    EXPECT_TRUE(session.status().means.empty()) << "nobody has said one";
    EXPECT_TRUE(std::isnan(session.mean("val_loss")));
    EXPECT_EQ(session.mean("val_loss", 1.0 + rank), 1.0 + rank) << "nothing is known of others";
    session.join();
    if (rank == 3) session.mean("accuracy", 0.5);
    const auto step = [&] {
      worker.step();
      session.exchange({.samples = 1});
    };
    const auto knows = [&] {
      return std::abs(session.mean("val_loss") - 2.5) < 1e-9 &&
             std::abs(session.mean("accuracy") - 0.5) < 1e-9;
    };
    if (lock_step) {
      for (int round = 0; round < kRounds; ++round) step();
    } else {
      // What is under way makes a mean come and go; it is known when all read it at once.
      while (!std::ranges::all_of(known, [](const auto& one) { return one.load(); })) {
        step();
        known.at(rank) = knows();
      }
    }
    if (lock_step) {
      EXPECT_TRUE(knows()) << session.mean("val_loss") << " " << session.mean("accuracy");
    }
    session.finish();
  });
}

INSTANTIATE_TEST_SUITE_P(Modes, MeansModeTest, ::testing::ValuesIn(kSessionModes), mode_name);

TEST_F(MeansTest, AreExactAfterARoundOfLockStepWhereAllAreNeighbours) {
  in_threads(3, [&](int rank) {
    Quadratic worker(rank);
    SessionOptions options = this->options("complete:3", rank, "sync");
    options.means = "val_loss";
    Session session(worker.adapter, options);
    session.join();
    for (int round = 0; round < 5; ++round) {
      session.mean("val_loss", 3.0 * rank + round);
      worker.step();
      session.exchange({.samples = 1});
      EXPECT_NEAR(session.mean("val_loss"), 3.0 + round, 1e-12);
    }
    session.finish();
  });
}

TEST_F(MeansTest, GoOnFromACheckpoint) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path saved = folder.path() / "saved";
  SessionOptions options = this->options("ring:1", 0);
  options.means = "accuracy,val_loss";
  {
    Quadratic worker(0);
    Session session(worker.adapter, options);
    session.mean("val_loss", 3);
    session.exchange({.samples = 1});
    session.save_checkpoint(saved);
  }
  options.resume = saved.string();
  Quadratic worker(0);
  Session session(worker.adapter, options);
  EXPECT_EQ(session.mean("val_loss"), 3);
  EXPECT_EQ(session.mean("val_loss", 5), 5);
  EXPECT_TRUE(std::isnan(session.mean("accuracy")));
}

TEST_F(MeansTest, OfOtherNamesAreRefused) {
  std::atomic<int> refused = 0;
  in_threads(2, [&](int rank) {
    Quadratic worker(rank);
    SessionOptions options = this->options("ring:2", rank);
    options.means = rank == 0 ? "val_loss" : "loss";
    options.exchange.start_deadline = 5;  // the one may have left before the other is told
    Session session(worker.adapter, options);
    EXPECT_THROW((void)session.mean("other"), ConfigError);
    try {
      session.join();
    } catch (const RefusedError& error) {
      EXPECT_THAT(error.what(), HasSubstr("means differs"));
      ++refused;
    }
    while (refused == 0) std::this_thread::yield();
  });
  EXPECT_GE(refused, 1);
}

}  // namespace
}  // namespace fast
