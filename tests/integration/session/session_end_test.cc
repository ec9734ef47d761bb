// Stopping, leaving, and workers that come when others have left.
#include <atomic>
#include <chrono>
#include <cmath>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "tests/integration/session/session_fixture.h"

namespace fast {
namespace {

INSTANTIATE_TEST_SUITE_P(Modes, SessionModeTest, ::testing::ValuesIn(kSessionModes), mode_name);

TEST_P(SessionModeTest, StoppingEndsEveryWait) {
  std::atomic<bool> stop = false;
  Quadratic worker(0);
  SessionOptions alone = options("ring:2", 0, GetParam());
  alone.stop = &stop;
  Session session(worker.adapter, alone);
  std::jthread stopper([&stop] { stop = true; });
  try {
    session.join();  // for 300 s, were it not stopped
    worker.step();
    session.exchange({.samples = 1, .loss = 1});
    session.finish();
  } catch (const DeadlineError&) {
    EXPECT_STREQ(GetParam(), "sync") << "only lock-step cannot begin alone";
  }
  for (const float value : worker.x) EXPECT_TRUE(std::isfinite(value));
}

TEST_F(SessionTest, WhoeverComesWhenAllHaveLeftDoesNotWaitForThem) {
  for (int repetition = 0; repetition < 50; ++repetition) {
    Quadratic first(0), second(1);
    std::string warnings;
    SessionOptions patient = options("ring:2", 0);
    // A worker that waited until the other is given up would not settle in time.
    patient.exchange.settle_deadline = 30;
    patient.exchange.gone_after = 300;
    patient.log = [&warnings](stencil::LogLevel level, std::string_view text) {
      if (level >= stencil::LogLevel::kWarning) warnings += std::string(text) + "\n";
    };
    auto zero = std::make_unique<Session>(first.adapter, patient);
    auto one = std::make_unique<Session>(second.adapter, options("ring:2", 1));
    zero->join();
    one.reset();
    for (int step = 0; step < 5; ++step) {
      first.step();
      zero->exchange({.samples = 1, .loss = 1});
    }
    EXPECT_EQ(zero->finish(), Agreement::kAlone) << repetition;
    zero.reset();
    EXPECT_EQ(warnings, "") << repetition;
    if (HasFailure()) return;
    network_ = std::make_shared<stencil::InprocNetwork>();
  }
}

TEST_F(SessionTest, WhoeverIsTheOnlyWorkerAgreesWithItself) {
  Quadratic worker(0);
  Session session(worker.adapter, options("ring:1", 0));
  session.exchange({.samples = 1, .loss = 1});
  EXPECT_EQ(session.finish(), Agreement::kAgreed);
}

TEST_F(SessionTest, WhoeverReachedNobodyEndsAlone) {
  Quadratic worker(0);
  SessionOptions alone = options("ring:2", 0);
  alone.exchange.start_deadline = 0.05;
  Session session(worker.adapter, alone);
  session.exchange({.samples = 1, .loss = 1});
  EXPECT_EQ(session.finish(), Agreement::kAlone);
}

/// It cannot count on work of others that it does not hear of.
TEST_F(SessionTest, WhoeverReachedNobodyHasTheWholeBudgetToItself) {
  Quadratic worker(0);
  SessionOptions alone = options("ring:4", 0);
  alone.exchange.start_deadline = 0.05;
  alone.budget = 100;
  Session session(worker.adapter, alone);
  int steps = 0;
  for (; !session.done(); ++steps) {
    worker.step();
    session.exchange({.samples = 1, .loss = 1});
  }
  EXPECT_EQ(steps, 100);
}

/// Fixed passes of unequal length: who is done first waits for the other, which is at work.
TEST_F(SessionTest, WhoeverIsDoneWaitsForANeighbourThatTrainsOn) {
  std::promise<void> done;
  in_threads(2, [&](int rank) {
    Quadratic worker(rank);
    SessionOptions hasty = options("ring:2", rank);
    hasty.exchange.settle_deadline = 3;  // of five steps of a second
    Session session(worker.adapter, hasty);
    session.join();
    std::promise<void> nothing;
    const std::future<void> never = nothing.get_future();
    const std::future<void> first = rank == 1 ? done.get_future() : std::future<void>();
    if (rank == 1) first.wait();
    for (int step = 0; step < 5; ++step) {
      if (rank == 1) (void)never.wait_for(std::chrono::seconds(1));
      worker.step();
      session.exchange({.samples = 1, .loss = 1});
    }
    if (rank == 0) done.set_value();
    EXPECT_EQ(session.finish(), Agreement::kAgreed) << rank;
  });
}

/// Calls `work` until all is done, and expects that it comes to that, and that all agree.
void expect_done(Session& session, const std::function<void()>& work) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!session.done() && std::chrono::steady_clock::now() < end) work();
  EXPECT_TRUE(session.done()) << session.rank();
  EXPECT_EQ(session.finish(), Agreement::kAgreed) << session.rank();
}

/// It has no data, say.
TEST_F(SessionTest, WhoeverMakesNoStepHearsThatAllIsDone) {
  in_threads(2, [this](int rank) {
    Quadratic worker(rank);
    SessionOptions of = options("ring:2", rank);
    of.budget = 50;
    of.exchange.settle_deadline = 300;  // not to be reached
    Session session(worker.adapter, of);
    session.join();
    expect_done(session, [&] {
      if (rank == 1) return std::this_thread::yield();
      worker.step();
      session.exchange({.samples = 1, .loss = 1});
    });
  });
}

/// Who trains is done by its own count before the other has heard of its one large step; the mean
/// over both is half the aim then, and stays so.
TEST_F(SessionTest, WhoeverMakesNoStepIsNotWaitedForLong) {
  in_threads(2, [this](int rank) {
    Quadratic worker(rank);
    SessionOptions of = options("ring:2", rank);
    of.epochs = 1;
    of.data_size = 100;
    of.exchange.linger = of.exchange.phase_lock = 0;
    of.exchange.settle_deadline = 300;  // not to be reached
    Session session(worker.adapter, of);
    session.join();
    expect_done(session, [&] {
      if (rank == 1) return std::this_thread::yield();
      worker.step();
      session.exchange({.samples = 100, .loss = 1});
    });
  });
}

TEST_F(SessionTest, OneEndsTheRunForAll) {
  in_threads(4, [this](int rank) {
    Quadratic worker(rank);
    SessionOptions endless = options("ring:4", rank);
    endless.log = [](stencil::LogLevel, std::string_view) {};
    Session session(worker.adapter, endless);
    session.join();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!session.done() && std::chrono::steady_clock::now() < end) {
      worker.step();
      session.exchange({.samples = 1, .loss = 1});
      if (rank == 2 && session.steps() == 10) session.stop_all("it is good enough");
    }
    EXPECT_TRUE(session.done()) << rank;
    EXPECT_EQ(session.finish(), Agreement::kAgreed) << rank;
  });
}

TEST_F(SessionTest, ARunWithoutAnEndSaysSo) {
  Quadratic worker(0);
  SessionOptions endless = options("ring:1", 0);
  std::string warnings;
  endless.log = [&warnings](stencil::LogLevel level, std::string_view text) {
    if (level >= stencil::LogLevel::kWarning) warnings += std::string(text) + "\n";
  };
  Session session(worker.adapter, endless);
  session.exchange({.samples = 1, .loss = 1});
  for (int call = 0; call < 2; ++call) EXPECT_FALSE(session.done());
  EXPECT_EQ(warnings,
            "done() is asked for, and without budget or epochs only stop_all() makes it true\n");
}

/// Its link is down at the end, say.
TEST_F(SessionTest, WhoeverIsAskedToWaitsAtTheEndForANeighbourThatIsAway) {
  Quadratic models[2] = {Quadratic(0), Quadratic(1)};
  SessionOptions patient = options("ring:2", 0);
  patient.exchange.start_deadline = 0.05;
  patient.exchange.wait_at_end = 300;
  patient.exchange.settle_deadline = 3;  // the line comes after five
  std::promise<void> waits;
  patient.log = [&waits](stencil::LogLevel, std::string_view line) {
    if (line.starts_with("waits for neighbour 1")) waits.set_value();
  };
  std::jthread first([&] {
    Session session(models[0].adapter, patient);
    for (int step = 0; step < 5; ++step) {
      models[0].step();
      session.exchange({.samples = 1, .loss = 1});
    }
    EXPECT_EQ(session.finish(), Agreement::kAgreed);
  });
  ASSERT_EQ(waits.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  Session session(models[1].adapter, options("ring:2", 1));
  session.join();
  EXPECT_EQ(session.finish(), Agreement::kAgreed);
  first.join();
  EXPECT_LT(distance(models[0].x, models[1].x), 1e-3F);
}

/// Rank 1 has no neighbour that is away. If it left with the model of the three, the other two and
/// the late one would agree on another.
TEST_F(SessionTest, ThoseBeyondWaitAtTheEndTooForOneThatIsAway) {
  Quadratic models[4] = {Quadratic(0), Quadratic(1), Quadratic(2), Quadratic(3)};
  const auto patient = [this](int rank) {
    SessionOptions of = options("ring:4", rank);
    of.exchange.start_deadline = 0.05;
    of.exchange.wait_at_end = 300;
    return of;
  };
  const auto train = [&models](int rank, const SessionOptions& of) {
    Quadratic& model = models[rank];
    Session session(model.adapter, of);
    session.join();
    for (int step = 0; step < 5; ++step) {
      model.step();
      session.exchange({.samples = 1, .loss = 1});
    }
    EXPECT_EQ(session.finish(), Agreement::kAgreed) << rank;
  };
  std::atomic<int> waiting = 0;
  std::promise<void> all_wait;
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < 3; ++rank) {
    SessionOptions of = patient(rank);
    of.log = [&](stencil::LogLevel, std::string_view line) {
      if (line.starts_with("waits for") && ++waiting == 3) all_wait.set_value();
    };
    threads.emplace_back([&train, rank, of] { train(rank, of); });
  }
  EXPECT_EQ(all_wait.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  train(3, patient(3));
  threads.clear();
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_LT(distance(models[rank].x, models[3].x), 1e-3F) << rank;
  }
}

TEST_F(SessionTest, WhoeverWaitsForANeighbourThatMakesNoStepEndsAtTheDeadline) {
  Quadratic models[2] = {Quadratic(0), Quadratic(1)};
  SessionOptions hasty = options("ring:2", 0);
  hasty.exchange.settle_deadline = hasty.exchange.busy_deadline = 0.05;
  Session zero(models[0].adapter, hasty), one(models[1].adapter, options("ring:2", 1));
  zero.join();
  one.join();
  zero.exchange({.samples = 1, .loss = 1});
  one.exchange({.samples = 1, .loss = 1});
  EXPECT_EQ(zero.finish(), Agreement::kDeadline);
}

TEST_F(SessionTest, LeavingNeverHangsWhateverTheOthersDo) {
  for (int repetition = 0; repetition < 20; ++repetition) {
    Quadratic models[3] = {Quadratic(0), Quadratic(1), Quadratic(2)};
    std::vector<std::unique_ptr<Session>> sessions;
    for (int rank = 0; rank < 3; ++rank) {
      sessions.push_back(std::make_unique<Session>(models[rank].adapter, options("ring:3", rank)));
    }
    for (int rank = 0; rank < 3; ++rank) {
      sessions[static_cast<std::size_t>(rank)]->exchange({.samples = 1, .loss = 1});
    }
    // In another order each time, in the middle of an exchange, and without a finish().
    for (int i = 0; i < 3; ++i) sessions[static_cast<std::size_t>((repetition + i) % 3)].reset();
    network_ = std::make_shared<stencil::InprocNetwork>();
  }
}

}  // namespace
}  // namespace fast
