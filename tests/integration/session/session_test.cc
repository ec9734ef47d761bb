#include "fast/session/session.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <latch>
#include <thread>

#include "adapters/flat/flat_adapter.h"
#include "stencil/core/mixing_weights.h"
#include "stencil/core/topology.h"
#include "stencil/transport/inproc/inproc_network.h"
#include "tests/support/allocations.h"

namespace fast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::size_t kSize = 1000;
constexpr float kRate = 0.2F;

/// A worker whose objective is |x - target|^2 / 2.
struct Quadratic {
  explicit Quadratic(int rank) : target(kSize), x(kSize, 0.5F), adapter(x) {
    for (std::size_t i = 0; i < kSize; ++i) {
      target[i] = std::sin(static_cast<float>(i + 1) * static_cast<float>(rank + 1));
    }
  }
  void step() {
    for (std::size_t i = 0; i < kSize; ++i) x[i] -= kRate * (x[i] - target[i]);
  }
  std::vector<float> target, x;
  FlatAdapter adapter;
};

float distance(const std::vector<float>& a, const std::vector<float>& b) {
  float sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum / static_cast<float>(a.size()));
}

class SessionTest : public ::testing::Test {
 protected:
  [[nodiscard]] SessionOptions options(const std::string& topology, int rank,
                                       const std::string& mode = "async") const {
    SessionOptions options;
    options.topology = topology;
    options.rank = rank;
    options.exchange.mode = mode;
    options.listen = "inproc://worker-" + std::to_string(rank);
    options.peer_template = "inproc://worker-{rank}";
    options.inproc = network_;
    options.exchange.start_deadline = options.exchange.wait_deadline = 300;  // not to be reached
    options.exchange.settle_deadline = 60;
    return options;
  }
  /// Each rank in a thread of its own; what one throws fails the test.
  static void in_threads(int workers, const std::function<void(int)>& work) {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < workers; ++rank) {
      threads.emplace_back([&work, rank] {
        try {
          work(rank);
        } catch (const std::exception& error) {
          ADD_FAILURE() << "worker " << rank << ": " << error.what();
        }
      });
    }
  }

  std::shared_ptr<stencil::InprocNetwork> network_ = std::make_shared<stencil::InprocNetwork>();
};

class SessionModeTest : public SessionTest, public ::testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(Modes, SessionModeTest, ::testing::Values("async", "bounded:2", "sync"),
                         [](const auto& info) {
                           const std::string mode = info.param;
                           return mode.substr(0, mode.find(':'));
                         });

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
      EXPECT_TRUE(session.finish());
    });
    // Lock-step workers stand apart by their last step, the others have settled.
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
  EXPECT_TRUE(session.finish());
  EXPECT_LT(distance(worker.x, expected), 1e-6F);
  EXPECT_EQ(session.joined_from(), std::nullopt);
}

/// Nobody forbids it: each still hears what the other has seen, and they end as others do.
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
    EXPECT_TRUE(session.finish()) << rank;
  });
}

TEST_P(SessionModeTest, EmptyTensorsTakeNoPlaceInTheExchange) {
  in_threads(2, [&](int rank) {
    std::vector<float> x(5);
    FlatAdapter adapter(x, {{"none", {0, 3}}, {"some", {2}}, {"no more", {0}}, {"rest", {3}}});
    Session session(adapter, options("ring:2", rank, GetParam()));
    session.join();
    for (float& value : x) value = 10.0F * static_cast<float>(rank + 1);
    session.exchange({});
    EXPECT_TRUE(session.finish()) << rank;
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
      x[0] = 10.0F * static_cast<float>(rank + 1);
      session.exchange({});
      EXPECT_TRUE(session.finish()) << "repetition " << repetition << ", worker " << rank;
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
    // Who has not heard of the neighbour yet has no sweep to begin, nor a reason to linger next
    // time.
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

TEST_F(SessionTest, LockStepIsWhatMatrixAlgebraSays) {
  constexpr int kSteps = 40;
  for (const char* const name : {"ring:2", "ring:5", "torus:2x3", "grid:2x3"}) {
    const auto topology = stencil::Topology::parse(name);
    const stencil::MixingWeights weights(topology);
    const int n = topology.size();
    std::vector<std::unique_ptr<Quadratic>> workers;
    for (int rank = 0; rank < n; ++rank) workers.push_back(std::make_unique<Quadratic>(rank));
    std::vector<std::vector<double>> expected(static_cast<std::size_t>(n),
                                              std::vector<double>(kSize, 0.5));
    for (int step = 0; step < kSteps; ++step) {
      auto half = expected;
      for (std::size_t k = 0; k < half.size(); ++k) {
        for (std::size_t i = 0; i < kSize; ++i) {
          half[k][i] -= static_cast<double>(kRate) * (half[k][i] - workers[k]->target[i]);
        }
      }
      for (int a = 0; a < n; ++a) {
        for (std::size_t i = 0; i < kSize; ++i) {
          double sum = 0;
          for (int b = 0; b < n; ++b) {
            sum += weights.weight(a, b) * half[static_cast<std::size_t>(b)][i];
          }
          expected[static_cast<std::size_t>(a)][i] = sum;
        }
      }
    }
    in_threads(n, [&](int rank) {
      Quadratic& worker = *workers[static_cast<std::size_t>(rank)];
      Session session(worker.adapter, options(name, rank, "sync"));
      for (int step = 0; step < kSteps; ++step) {
        worker.step();
        session.exchange({.samples = 1, .loss = 1});
      }
      session.finish();
    });
    for (std::size_t k = 0; k < workers.size(); ++k) {
      for (std::size_t i = 0; i < kSize; ++i) {
        ASSERT_NEAR(workers[k]->x[i], expected[k][i], 1e-5) << name << ", worker " << k;
      }
    }
    network_ = std::make_shared<stencil::InprocNetwork>();
  }
}

/// Lock-step never shares memory, so that to allow it or not can change nothing: this holds it to
/// that, and shows that the bits do not depend on what carries the frames.
TEST_F(SessionTest, LockStepSharesNoMemoryAndIsTheSameToTheBitHoweverItsFramesTravel) {
  constexpr int kWorkers = 6;
  std::string folder = ::testing::TempDir() + "fast-lock-step-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  std::vector<std::vector<float>> first;
  for (const std::string way : {"inproc", "sockets", "sockets, shared memory forbidden"}) {
    std::vector<std::unique_ptr<Quadratic>> workers;
    for (int rank = 0; rank < kWorkers; ++rank)
      workers.push_back(std::make_unique<Quadratic>(rank));
    in_threads(kWorkers, [&](int rank) {
      Quadratic& worker = *workers[static_cast<std::size_t>(rank)];
      SessionOptions o = options("torus:2x3", rank, "sync");
      if (way != "inproc") {
        o.inproc = nullptr;
        o.listen = "ipc://" + folder + "/" + std::to_string(rank);
        o.peer_template = "ipc://" + folder + "/{rank}";
        if (way != "sockets") o.exchange.transport = "tcp";
      }
      Session session(worker.adapter, o);
      for (int step = 0; step < 40; ++step) {
        worker.step();
        session.exchange({.samples = 1, .loss = 1});
      }
      session.finish();
      for (const auto& neighbour : session.status().neighbours) {
        EXPECT_FALSE(neighbour.shared) << way;
      }
    });
    std::vector<std::vector<float>> models;
    for (const auto& worker : workers) models.push_back(worker->x);
    if (first.empty()) first = models;
    EXPECT_TRUE(models == first) << way;
  }
  std::filesystem::remove_all(folder);
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

TEST_F(SessionTest, WhoeverComesWhenAllHaveLeftDoesNotWaitForThem) {
  for (int repetition = 0; repetition < 50; ++repetition) {
    Quadratic first(0), second(1);
    std::string warnings;
    SessionOptions patient = options("ring:2", 0);
    // Who waited for the other until it is given up would not be settled in time.
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
    EXPECT_TRUE(zero->finish()) << repetition;
    zero.reset();
    EXPECT_EQ(warnings, "") << repetition;
    if (HasFailure()) return;
    network_ = std::make_shared<stencil::InprocNetwork>();
  }
}

TEST_F(SessionTest, AnotherRunOrStartIsRefusedByNamingBothValues) {
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
      EXPECT_THAT(error.what(), AllOf(HasSubstr("monday"), HasSubstr("tuesday")));
    }
  }
  second.x[0] += 1;
  Session a(first.adapter, options("ring:2", 0)), b(second.adapter, options("ring:2", 1));
  EXPECT_THROW(b.join(), RefusedError);
}

TEST_F(SessionTest, AWaitThatPassesItsDeadlineNamesTheNeighbourAndTheRemedy) {
  for (const char* const mode : {"sync", "bounded:2"}) {
    Quadratic first(0), second(1);
    SessionOptions hasty = options("ring:2", 0, mode);
    hasty.exchange.wait_deadline = 0.2;
    Session zero(first.adapter, hasty), one(second.adapter, options("ring:2", 1, mode));
    zero.join();
    one.join();
    try {
      // Its neighbour is there, answers, and makes no step.
      // (It may make some steps before it hears that its neighbour has begun, too.)
      for (int step = 0; step < 10'000'000; ++step) {
        first.step();
        zero.exchange({.samples = 1, .loss = 1});
      }
      ADD_FAILURE() << mode << ": went on without its neighbour";
    } catch (const DeadlineError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("1 (up, step 0)"), HasSubstr("wait_deadline")))
          << mode;
    }
    network_ = std::make_shared<stencil::InprocNetwork>();
  }
}

TEST_F(SessionTest, AModelThatIsNoNumberAnyMoreIsAnErrorAndIsNotPassedOn) {
  Quadratic first(0), second(1);
  Session zero(first.adapter, options("ring:2", 0)), one(second.adapter, options("ring:2", 1));
  zero.join();
  one.join();
  zero.exchange({.samples = 1, .loss = 1});
  first.x[7] = std::nanf("");
  // A bucket that the background holds at a boundary is folded, and looked at, at a later one.
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
    few.log = [&](stencil::LogLevel level, std::string_view text) {
      if (level != stencil::LogLevel::kWarning) return;
      EXPECT_THAT(text, AllOf(HasSubstr("1000 were asked for"), HasSubstr("--codec int4")));
      ++said;
    };
    Session session(worker.adapter, few);
    for (int step = 0; step < 10'000'000 && said == 0; ++step) session.exchange({.samples = 1});
    for (int step = 0; step < 1000; ++step) session.exchange({.samples = 1});
    EXPECT_TRUE(session.finish());
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
