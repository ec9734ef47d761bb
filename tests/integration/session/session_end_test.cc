// Stopping, leaving, and workers that come when others have left.
#include <atomic>
#include <cmath>
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

TEST_F(SessionTest, WhoeverWaitsForANeighbourThatTrainsOnEndsAtTheDeadline) {
  Quadratic models[2] = {Quadratic(0), Quadratic(1)};
  SessionOptions hasty = options("ring:2", 0);
  hasty.exchange.settle_deadline = 0.05;
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
