// What a session refuses, what it warns of, and which errors end it.
#include <fcntl.h>
#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <stdexcept>
#include <string>

#include "tests/integration/session/session_fixture.h"

namespace fast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_F(SessionTest, AnotherRunOrStartIsRefusedByNamingWhatDiffers) {
  Quadratic first(0), second(1);
  SessionOptions zero = options("ring:2", 0), one = options("ring:2", 1);
  zero.run_id = "monday";
  one.run_id = "tuesday";
  {
    Session a(first.adapter, zero), b(second.adapter, one);
    try {
      b.join();
      ADD_FAILURE() << "not refused";
    } catch (const RefusedError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("run id differs"), HasSubstr("tuesday")));
    }
  }
  second.x[0] += 1;
  zero = options("ring:2", 0);
  one = options("ring:2", 1);
  zero.exchange.initial = one.exchange.initial = "same";
  Session a(first.adapter, zero), b(second.adapter, one);
  EXPECT_THROW(b.join(), RefusedError);
}

/// Whoever finds the difference first throws and is gone at once.
TEST_F(SessionTest, ARefusalReachesBothEnds) {
  for (const char* const transport : {"tcp", "zmq"}) {
    for (int run = 0; run < 3; ++run) {
      Quadratic first(0), second(1);
      second.x[0] += 1;
      SessionOptions zero = options("ring:2", 0), one = options("ring:2", 1);
      zero.listen = one.listen = "127.0.0.1:0";
      zero.exchange.transport = one.exchange.transport = transport;
      zero.exchange.initial = one.exchange.initial = "same";
      zero.peer_template = one.peer_template = "";
      zero.exchange.start_deadline = one.exchange.start_deadline = 2;
      auto a = std::make_unique<Session>(first.adapter, zero);
      one.peers[0] = a->endpoint();
      auto b = std::make_unique<Session>(second.adapter, one);
      in_threads(2, [&](int rank) {
        const std::unique_ptr<Session> session = std::move(rank == 0 ? a : b);
        try {
          session->join();
          ADD_FAILURE() << rank << " was not refused, in run " << run << " over " << transport;
        } catch (const RefusedError& error) {
          EXPECT_THAT(error.what(), HasSubstr("initial weights"));
        }
      });
      if (HasFailure()) return;
    }
  }
}

TEST_F(SessionTest, AWaitThatPassesItsDeadlineNamesTheNeighbourAndTheRemedy) {
  for (const char* const mode : {"sync", "bounded:2"}) {
    Quadratic first(0), second(1);
    SessionOptions hasty = options("ring:2", 0, mode);
    hasty.exchange.wait_deadline = 0.1;
    hasty.exchange.busy_deadline = 0.2;
    Session zero(first.adapter, hasty), one(second.adapter, options("ring:2", 1, mode));
    zero.join();
    one.join();
    try {
      // Its neighbour is there, answers, and makes no step.
      for (int step = 0; step < 4; ++step) {
        first.step();
        zero.exchange({.samples = 1, .loss = 1});
      }
      ADD_FAILURE() << mode << ": went on without its neighbour";
    } catch (const DeadlineError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("1 (up, step 0)"), HasSubstr("busy_deadline")))
          << mode;
    }
    network_ = std::make_shared<stencil::InprocNetwork>();
  }
}

/// Simulates a file on a network that hangs: opening a pipe without a writer blocks too.
TEST_F(SessionTest, AFileOfPeersThatCannotBeReadHoldsUpNothing) {
  const std::string path = ::testing::TempDir() + "fast_peers_" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  Quadratic worker(0);
  {
    SessionOptions alone = options("ring:2", 0);
    alone.peers.clear();
    alone.peers_file = path;
    alone.exchange.start_deadline = 0.5;
    Session session(worker.adapter, alone);
    session.join();
    for (int step = 0; step < 3; ++step) session.exchange({.samples = 1, .loss = 1});
    EXPECT_EQ(session.steps(), 3U);
  }
  // Releases the thread that reads it.
  const int writer = ::open(path.c_str(), O_WRONLY | O_NONBLOCK);
  ::close(writer);
  ::unlink(path.c_str());
}

TEST_F(SessionTest, AModelThatIsNoNumberAnyMoreIsAnErrorAndIsNotPassedOn) {
  Quadratic first(0), second(1);
  Session zero(first.adapter, options("ring:2", 0)), one(second.adapter, options("ring:2", 1));
  zero.join();
  one.join();
  zero.exchange({.samples = 1, .loss = 1});
  first.x[7] = std::nanf("");
  // A bucket that the background thread holds at a boundary is folded, and checked, at a later one.
  EXPECT_THROW(for (int i = 0; i < 10'000; ++i) zero.exchange({.samples = 1, .loss = 1}),
               NonFiniteError);
  for (int step = 0; step < 20; ++step) one.exchange({.samples = 1, .loss = 1});
  for (const float value : second.x) ASSERT_TRUE(std::isfinite(value));
}

TEST_F(SessionTest, WhoGetsFarFewerAveragesThanAskedForSaysSoOnce) {
  in_threads(2, [&](int rank) {
    Quadratic worker(rank);
    std::atomic<int> said{0};
    SessionOptions few = options("ring:2", rank);
    few.exchange.sweeps = 1000;  // no time between two steps is long enough
    few.exchange.linger = 0;
    few.log = [&](stencil::LogLevel level, std::string_view text) {
      if (level != stencil::LogLevel::kWarning) return;
      EXPECT_THAT(text, AllOf(HasSubstr("1000 were asked for"), HasSubstr("; mode bounded:3")));
      ++said;
    };
    Session session(worker.adapter, few);
    for (int step = 0; step < 10'000'000 && said == 0; ++step) session.exchange({.samples = 1});
    for (int step = 0; step < 1000; ++step) session.exchange({.samples = 1});
    EXPECT_EQ(session.finish(), Agreement::kAgreed);
    EXPECT_EQ(said, 1);
  });
}

TEST_F(SessionTest, WhatFailsInTheBackgroundIsToldByTheNextCall) {
  Quadratic first(0), second(1);
  std::atomic<bool> failed{false};
  SessionOptions few = options("ring:2", 0);
  few.exchange.sweeps = 1000;  // asks for more than can be: the background thread says so
  few.log = [&](stencil::LogLevel level, std::string_view) {
    if (level == stencil::LogLevel::kWarning && !failed.exchange(true)) {
      throw std::runtime_error("no room for the log");
    }
  };
  Session zero(first.adapter, few), one(second.adapter, options("ring:2", 1));
  zero.join();
  one.join();
  try {
    for (int step = 0; step < 10'000'000; ++step) zero.exchange({.samples = 1, .loss = 1});
    ADD_FAILURE() << "went on without its background thread";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the background thread failed: no room for the log"));
  }
  EXPECT_TRUE(failed);
}

TEST_F(SessionTest, ARunIdThatNobodyCouldReadIsRefusedAtSetUp) {
  Quadratic worker(0);
  for (const std::string& id : {std::string(), std::string(300, 'x'), std::string("two\nlines")}) {
    SessionOptions named = options("ring:2", 0);
    named.run_id = id;
    EXPECT_THROW(Session(worker.adapter, named), ConfigError) << id;
  }
}

TEST_F(SessionTest, TheAddressOfAnotherIsAnErrorOfTheNetwork) {
  Quadratic first(0), second(1);
  Session zero(first.adapter, options("ring:2", 0));
  SessionOptions taken = options("ring:2", 1);
  taken.listen = "inproc://worker-0";
  EXPECT_THROW(Session(second.adapter, taken), stencil::NetworkError);
}

TEST_F(SessionTest, ALossThatIsNoNumberIsLeftOutAndCounted) {
  Quadratic worker(0);
  Session session(worker.adapter, options("ring:1", 0));
  session.exchange({.samples = 1, .loss = 2});
  session.exchange({.samples = 1, .loss = std::nan("")});
  session.exchange({.samples = 1, .loss = std::numeric_limits<double>::infinity()});
  EXPECT_EQ(session.network_loss(), 2);
  EXPECT_EQ(session.status().counter("non_finite_losses"), 2U);
  EXPECT_EQ(session.steps(), 3U);
}

TEST_F(SessionTest, ExchangingAfterTheEndIsRefused) {
  Quadratic worker(0);
  Session session(worker.adapter, options("ring:1", 0));
  session.exchange({.samples = 1, .loss = 1});
  EXPECT_EQ(session.finish(), Agreement::kAgreed);
  EXPECT_THROW(session.exchange({.samples = 1, .loss = 1}), OrderError);
  EXPECT_THROW(session.join(), OrderError);
  EXPECT_EQ(session.finish(), Agreement::kAgreed);
}

}  // namespace
}  // namespace fast
