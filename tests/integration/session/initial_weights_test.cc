// Workers that drew other initial weights begin with those of rank 0, whatever carries them.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cmath>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "fast/checkpoint/saved_state.h"
#include "tests/integration/session/session_fixture.h"

namespace fast {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr int kWorkers = 4;

/// An optimizer's part of a model: told when another model takes its place.
struct Watcher : Resumable {
  void save(StateWriter&) override {}
  void load(const StateReader&) override {}
  void model_replaced() override { ++replaced; }
  int replaced = 0;
};

struct Way {
  const char* name;
  const char* transport;
  const char* share_memory;
};

class InitialWeightsTest : public SessionTest, public ::testing::WithParamInterface<Way> {
 protected:
  InitialWeightsTest() {
    for (int rank = 0; rank < kWorkers; ++rank) {
      workers_.push_back(std::make_unique<Quadratic>(rank));
      for (std::size_t i = 0; i < kSize; ++i) {
        workers_.back()->x[i] = std::cos(static_cast<float>((i + 1) * (rank + 7)));
      }
    }
    lowest_ = workers_[0]->x;
  }
  /// Opened in the order of calls; the later one dials.
  void open(int rank, const std::string& mode = "async") {
    SessionOptions made = options("torus:2x2", rank, mode);
    made.listen = "127.0.0.1:0";
    made.peer_template = "";
    made.exchange.transport = GetParam().transport;
    made.exchange.share_memory = GetParam().share_memory;
    for (int other = 0; other < kWorkers; ++other) {
      if (sessions_[other]) made.peers[other] = sessions_[other]->endpoint();
    }
    made.log = [this, rank](LogLevel, std::string_view line) {
      const std::lock_guard lock(mutex_);
      log_[rank].emplace_back(line);
    };
    change_(made);
    sessions_[rank] = std::make_unique<Session>(workers_[rank]->adapter, made);
  }

  std::vector<std::unique_ptr<Quadratic>> workers_;
  std::vector<float> lowest_;
  std::function<void(SessionOptions&)> change_ = [](SessionOptions&) {};
  std::mutex mutex_;
  std::vector<std::string> log_[kWorkers];
  std::unique_ptr<Session> sessions_[kWorkers];
};

TEST_P(InitialWeightsTest, AreThoseOfRank0InEveryMode) {
  for (const char* const mode : kSessionModes) {
    SCOPED_TRACE(mode);
    Watcher watcher;
    workers_[3]->adapter.attach(watcher);
    for (int rank = 0; rank < kWorkers; ++rank) open(rank, mode);
    std::barrier seen(kWorkers);
    in_threads(kWorkers, [&](int rank) {
      Session& session = *sessions_[rank];
      session.join();
      EXPECT_EQ(workers_[rank]->x, lowest_) << "of rank " << rank;
      seen.arrive_and_wait();  // a neighbour's first step may come before the own one
      for (int step = 0; step < 5; ++step) {
        workers_[rank]->step();
        session.exchange({.samples = 1, .loss = 1});
      }
      EXPECT_EQ(session.finish(), Agreement::kAgreed);
    });
    EXPECT_EQ(watcher.replaced, 1);
    EXPECT_EQ(sessions_[0]->status().initial_from, std::nullopt);
    EXPECT_EQ(sessions_[3]->status().initial_from, std::optional(0));
    EXPECT_EQ(sessions_[3]->joined_from(), std::nullopt);
    for (auto& session : sessions_) session.reset();
    EXPECT_THAT(log_[3], Contains(HasSubstr("begins with the initial weights of rank 0")));
    EXPECT_THAT(log_[0], Not(Contains(HasSubstr("initial weights"))));
    workers_[3]->adapter.detach(watcher);
    for (int rank = 0; rank < kWorkers; ++rank) {
      for (float& value : workers_[rank]->x) value += static_cast<float>(rank + 1);
    }
    lowest_ = workers_[0]->x;
  }
}

/// The others wait for rank 0, which comes when they have agreed among themselves.
TEST_P(InitialWeightsTest, AreThoseOfRank0WhenItComesLast) {
  for (int rank = 1; rank < kWorkers; ++rank) open(rank);
  in_threads(kWorkers, [&](int rank) {
    if (rank == 0) {
      // 1 and 2 are its neighbours and 3's, so theirs have come to 3.
      while (sessions_[3]->status().initial_from != std::optional(1)) std::this_thread::yield();
      open(0);
    }
    sessions_[rank]->join();
    EXPECT_EQ(workers_[rank]->x, lowest_) << "of rank " << rank;
  });
}

TEST_P(InitialWeightsTest, WithoutRank0AreThoseOfTheLowestRankThereIs) {
  lowest_ = workers_[1]->x;
  change_ = [](SessionOptions& options) { options.exchange.start_deadline = 3; };
  for (int rank = 1; rank < kWorkers; ++rank) open(rank);
  in_threads(kWorkers, [&](int rank) {
    if (rank == 0) return;
    sessions_[rank]->join();
    EXPECT_EQ(workers_[rank]->x, lowest_) << "of rank " << rank;
  });
}

/// Each worker brings its own number of examples, whose sum tells when an epoch is over.
TEST_P(InitialWeightsTest, NumbersOfExamplesStayThoseOfEachWorker) {
  change_ = [](SessionOptions& options) {
    options.epochs = 1e6;
    options.data_size = static_cast<std::uint64_t>(100 * (options.rank + 1));
  };
  for (int rank = 0; rank < kWorkers; ++rank) open(rank);
  std::array<std::atomic<bool>, kWorkers> known{};
  in_threads(kWorkers, [&](int rank) {
    Session& session = *sessions_[rank];
    session.join();
    // How many steps gossip takes is up to the machine, and what is under way makes a mean come and
    // go; it is known when all read it at once.
    while (!std::ranges::all_of(known, [](const auto& one) { return one.load(); })) {
      session.exchange({.samples = 1, .loss = 1});
      known.at(rank) = std::abs(session.status().mean_data_size - 250) < 25;
    }
    (void)session.finish();
  });
}

INSTANTIATE_TEST_SUITE_P(Ways, InitialWeightsTest,
                         ::testing::Values(Way{"zmq", "zmq", "never"}, Way{"tcp", "tcp", "never"},
                                           Way{"memory", "auto", "auto"}),
                         [](const auto& info) { return info.param.name; });

/// A worker that resumes keeps its model, and one that has lost its own takes it over.
TEST_F(SessionTest, AResumedWorkerIsNotAskedForItsInitialWeights) {
  const std::string file = ::testing::TempDir() + "initial_weights_resumed.safetensors";
  std::filesystem::remove(file);
  Quadratic kept(1), lost(0);
  for (float& value : kept.x) value = 3;
  SessionOptions one = options("ring:2", 1);
  one.checkpoint = one.resume = file;
  one.exchange.start_deadline = 0.1;
  {
    Session alone(kept.adapter, one);
    kept.step();
    alone.exchange({.samples = 1, .loss = 1});
    (void)alone.finish();
  }
  const std::vector<float> saved = kept.x;
  for (float& value : kept.x) value = 0;
  one.exchange.start_deadline = 300;
  Session back(kept.adapter, one), fresh(lost.adapter, options("ring:2", 0));
  in_threads(2, [&](int rank) { (rank == 0 ? fresh : back).join(); });
  EXPECT_EQ(kept.x, saved);
  EXPECT_EQ(fresh.joined_from(), 1);
  EXPECT_LT(distance(lost.x, saved), 1e-6F);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace fast
