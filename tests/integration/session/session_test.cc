#include "fast/session/session.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/session/session_fixture.h"
#include "tests/support/allocations.h"

namespace fast {
namespace {

INSTANTIATE_TEST_SUITE_P(Modes, SessionModeTest, ::testing::ValuesIn(kSessionModes), mode_name);

TEST_P(SessionModeTest, TwoWorkersInOneProcessComeTogetherAgainAndAgain) {
  for (int repetition = 0; repetition < 20; ++repetition) {
    std::vector<std::unique_ptr<Quadratic>> workers;
    for (int rank = 0; rank < 2; ++rank) workers.push_back(std::make_unique<Quadratic>(rank));
    in_threads(2, [&](int rank) {
      Quadratic& worker = *workers[static_cast<std::size_t>(rank)];
      Session session(worker.adapter, options("ring:2", rank, GetParam()));
      for (int step = 0; step < 30; ++step) {
        worker.step();
        session.exchange({.samples = 1, .loss = 1});
      }
      EXPECT_EQ(session.steps(), 30U);
      EXPECT_EQ(session.finish(), Agreement::kAgreed);
    });
    // Lock-step workers differ by their last step; the others have settled.
    const float apart = distance(workers[0]->x, workers[1]->x);
    EXPECT_LT(apart, std::string(GetParam()) == "sync" ? 0.3F : 1e-2F) << repetition;
    if (HasFailure()) return;
    network_ = std::make_shared<stencil::InprocNetwork>();
  }
}

TEST_P(SessionModeTest, OneWorkerAloneNeedsNobody) {
  Quadratic worker(0);
  Session session(worker.adapter, options("ring:1", 0, GetParam()));
  std::vector<float> expected = worker.x;
  for (int step = 0; step < 50; ++step) {
    worker.step();
    session.exchange({.samples = 1, .loss = 1});
    for (std::size_t i = 0; i < kSize; ++i) {
      expected[i] -= kRate * (expected[i] - worker.target[i]);
    }
  }
  EXPECT_EQ(session.finish(), Agreement::kAgreed);
  EXPECT_LT(distance(worker.x, expected), 1e-6F);
  EXPECT_EQ(session.joined_from(), std::nullopt);
}

/// It is allowed: each worker still learns what the other has seen, and they end as others do.
TEST_P(SessionModeTest, WorkersWithoutParametersExchangeTheirLosses) {
  in_threads(2, [&](int rank) {
    std::vector<float> nothing;
    FlatAdapter adapter(nothing);
    Session session(adapter, options("ring:2", rank, GetParam()));
    const auto heard = [&] { return session.network_loss() > 1 && session.network_loss() < 3; };
    for (int step = 0; step < 10'000'000 && !heard(); ++step) {
      session.exchange({.samples = 1, .loss = rank == 0 ? 1.0 : 3.0});
    }
    EXPECT_TRUE(heard()) << rank;
    EXPECT_EQ(session.finish(), Agreement::kAgreed) << rank;
  });
}

TEST_P(SessionModeTest, EmptyTensorsTakeNoPlaceInTheExchange) {
  in_threads(2, [&](int rank) {
    std::vector<float> x(5);
    FlatAdapter adapter(x, {{"none", {0, 3}}, {"some", {2}}, {"no more", {0}}, {"rest", {3}}});
    Session session(adapter, options("ring:2", rank, GetParam()));
    session.join();
    for (float& value : x) value += 10.0F * static_cast<float>(rank + 1);
    session.exchange({});
    EXPECT_EQ(session.finish(), Agreement::kAgreed) << rank;
    for (const float value : x) EXPECT_NEAR(value, 15, 0.1) << rank;
  });
}

TEST_P(SessionModeTest, AnExchangeAllocatesNothingInTheTrainingThread) {
  constexpr int kWarmUp = 5, kSteps = 50;
  in_threads(2, [&](int rank) {
    Quadratic worker(rank);
    Session session(worker.adapter, options("ring:2", rank, GetParam()));
    std::uint64_t before = 0;
    for (int step = 0; step < kSteps; ++step) {
      worker.step();
      if (step == kWarmUp) before = test::allocations().count;
      session.exchange({.samples = 1, .loss = 1});
    }
    EXPECT_EQ(test::allocations().count - before, 0U) << "worker " << rank;
    session.finish();
  });
}

TEST_F(SessionTest, FourWorkersOnATorusAgreeFiftyTimes) {
  for (int repetition = 0; repetition < 50; ++repetition) {
    std::vector<float> ends(4);
    in_threads(4, [&](int rank) {
      std::vector<float> x = {0};
      FlatAdapter adapter(x);
      SessionOptions some = options("torus:2x2", rank);
      some.exchange.settle_target = 1e-6;
      Session session(adapter, some);
      session.join();
      x[0] += 10.0F * static_cast<float>(rank + 1);  // who began before may have moved it already
      session.exchange({});
      EXPECT_EQ(session.finish(), Agreement::kAgreed)
          << "repetition " << repetition << ", worker " << rank;
      ends[static_cast<std::size_t>(rank)] = x[0];
    });
    for (const float end : ends) EXPECT_NEAR(end, 25, 1e-2) << repetition;
    if (HasFailure()) return;
    network_ = std::make_shared<stencil::InprocNetwork>();
  }
}

TEST_F(SessionTest, WhoLingersLeavesABoundaryWithTheAverage) {
  std::latch published(1), over(1);
  in_threads(2, [&](int rank) {
    std::vector<float> x = {0};
    FlatAdapter adapter(x);
    SessionOptions some = options("ring:2", rank);
    if (rank == 0) some.exchange.linger = 1;
    Session session(adapter, some);
    session.join();
    if (rank == 1) {
      session.exchange({});
      published.count_down();
      over.wait();
      return;
    }
    published.wait();
    // A worker that does not know the neighbour's state yet has no sweep to begin and no reason to
    // linger next time.
    while (session.status().neighbours[0].state != stencil::WorkerState::kTraining) {
      std::this_thread::yield();
    }
    session.exchange({});  // no step is known yet: it does not linger
    while (session.status().neighbours[0].sweeps == 0) std::this_thread::yield();
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    while (std::chrono::steady_clock::now() < end) std::this_thread::yield();  // a long step
    x[0] = 100;
    session.exchange({});
    EXPECT_LE(x[0], 67) << "half of it has gone to the neighbour, or a third where offers crossed";
    EXPECT_GE(session.status().neighbours[0].sweeps, 1U);
    over.count_down();
  });
}

TEST_F(SessionTest, ALateWorkerTakesOverItsNeighboursModel) {
  for (int repetition = 0; repetition < 10; ++repetition) {
    Quadratic first(0), late(1);
    SessionOptions alone = options("ring:2", 0);
    alone.exchange.start_deadline = 0.01;
    Session zero(first.adapter, alone);
    for (int step = 0; step < 20; ++step) {
      first.step();
      zero.exchange({.samples = 1, .loss = 1});
    }
    Session one(late.adapter, options("ring:2", 1));
    one.join();
    EXPECT_EQ(one.joined_from(), std::optional<int>(0));
    EXPECT_LT(distance(first.x, late.x), 1e-6F) << repetition;
    EXPECT_EQ(zero.joined_from(), std::nullopt);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace fast
