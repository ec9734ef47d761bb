// Workers come and go while sessions train on.
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "fast/errors.h"
#include "tests/integration/session/session_fixture.h"

namespace fast {
namespace {

using ::testing::HasSubstr;

class GridChangeSession : public SessionTest, public ::testing::WithParamInterface<const char*> {
 protected:
  /// A worker that only averages, but for what the test adds to its model.
  struct Worker {
    std::vector<float> x = std::vector<float>(kSize);
    FlatAdapter adapter{x};
    std::optional<Session> session;
    void add(float more) {
      for (float& value : x) value += more;
    }
    void exchange() { session->exchange({.samples = 1, .loss = 0}); }
    [[nodiscard]] std::vector<int> neighbours() const {
      std::vector<int> ranks;
      for (const auto& neighbour : session->status().neighbours) ranks.push_back(neighbour.rank);
      return ranks;
    }
    [[nodiscard]] double mean() const {
      return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
    }
  };

  [[nodiscard]] SessionOptions in_ring(int rank, const char* codec) const {
    SessionOptions some = options("ring:3", rank);
    some.exchange.codec = codec;
    some.exchange.share_memory = "never";
    some.exchange.settle_target = 1e-5;
    return some;
  }
  /// Three that begin on a ring.
  void begin(const char* codec) {
    for (int rank = 0; rank < 3; ++rank) {
      Worker& worker = workers_[rank];
      worker.session.emplace(worker.adapter, in_ring(rank, codec));
    }
    for (int rank = 0; rank < 3; ++rank) workers_[rank].session->join();
  }
  /// Steps of these until `over`.
  template <typename Over>
  void train(const std::vector<int>& ranks, Over over) {
    while (!over()) {
      for (const int rank : ranks) workers_[rank].exchange();
    }
  }
  void change(const std::vector<int>& ranks, const std::function<void(Session&)>& make) {
    for (const int rank : ranks) make(*workers_[rank].session);
  }

  Worker workers_[4];
};

TEST_P(GridChangeSession, one_leaves_and_another_comes_and_the_mean_is_kept) {
  begin(GetParam());
  for (int rank = 0; rank < 3; ++rank) workers_[rank].add(10.0F * static_cast<float>(rank + 1));
  for (int rank = 0; rank < 3; ++rank) workers_[rank].exchange();
  change({0, 1, 2}, [](Session& session) { session.remove(2); });
  train({0, 1, 2}, [this] {
    return workers_[0].neighbours() == std::vector{1} &&
           workers_[1].neighbours() == std::vector{0} && workers_[2].neighbours().empty();
  });
  EXPECT_EQ(workers_[0].session->size(), 2);
  workers_[2].exchange();  // takes in what was agreed last
  train({0, 1}, [this] { return distance(workers_[0].x, workers_[1].x) < 1e-3F; });
  const double agreed = workers_[0].mean();
  EXPECT_NEAR(2 * agreed + workers_[2].mean(), 60, 0.02);

  // Nobody tells it where the others are: they come to it.
  stencil::Grid grid(stencil::Topology::parse("ring:3"));
  grid.remove(2);
  grid.add(3, std::vector<int>{0, 1});
  SessionOptions late = in_ring(3, GetParam());
  late.listen = "inproc://late";
  late.peer_template.clear();
  workers_[3].session.emplace(workers_[3].adapter, late, grid);
  change({0, 1}, [](Session& session) { session.add(3, {0, 1}, "inproc://late"); });
  workers_[3].session->join();
  EXPECT_NEAR(workers_[3].mean(), agreed, 0.02) << "it has copied a model";
  workers_[3].add(9);
  train({0, 1, 3}, [this] {
    return std::ranges::all_of(std::vector{0, 1, 3}, [this](int rank) {
      return workers_[rank].neighbours().size() == 2 &&
             workers_[rank].session->status().has_exchanged();
    });
  });
  EXPECT_EQ(workers_[3].session->size(), 3);
  in_threads(4, [this](int rank) {
    if (rank == 2) return;
    EXPECT_EQ(workers_[rank].session->finish(), Agreement::kAgreed) << rank;
  });
  for (const int rank : {0, 1, 3}) {
    EXPECT_LT(distance(workers_[rank].x, workers_[0].x), 0.01F) << rank;
    EXPECT_NEAR(workers_[rank].mean(), agreed + 3, 0.03) << rank;
  }
}

TEST_P(GridChangeSession, who_comes_waits_until_its_neighbours_have_added_it) {
  begin(GetParam());
  stencil::Grid grid(stencil::Topology::parse("ring:3"));
  grid.add(3, std::vector<int>{0, 1});
  workers_[3].session.emplace(workers_[3].adapter, in_ring(3, GetParam()), grid);
  std::jthread coming([this] { EXPECT_NO_THROW(workers_[3].session->join()); });
  train({0, 1, 2}, [this] {
    return workers_[0].session->status().counter("unknown_senders") > 0 &&
           workers_[1].session->status().counter("unknown_senders") > 0;
  });
  change({0, 1, 2}, [](Session& session) { session.add(3, {0, 1}); });
  coming.join();
  train({0, 1, 2, 3}, [this] { return workers_[3].session->status().has_exchanged(); });
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(workers_[rank].session->size(), 4);
}

/// For the thread sanitizer, which sees what a change hands over. It does not see the fold's wide
/// stores: that y is read under the locks, a test of Mixer shows.
TEST_P(GridChangeSession, edges_come_and_go_while_the_model_is_folded) {
  begin(GetParam());
  for (int round = 0; round < 3; ++round) {
    for (int rank = 0; rank < 3; ++rank) workers_[rank].add(static_cast<float>(rank));
    change({0, 1, 2}, [](Session& session) { session.remove(2); });
    train({0, 1, 2}, [this] {
      return workers_[0].neighbours() == std::vector{1} &&
             workers_[1].neighbours() == std::vector{0} && workers_[2].neighbours().empty();
    });
    change({0, 1, 2}, [](Session& session) { session.add(2, {0, 1}); });
    train({0, 1, 2}, [this] {
      const auto around = workers_[2].session->status().neighbours;  // none at first
      return around.size() == 2 &&
             std::ranges::all_of(around, [](const auto& other) { return other.sweeps > 0; });
    });
  }
  in_threads(3, [this](int rank) {
    EXPECT_EQ(workers_[rank].session->finish(), Agreement::kAgreed) << rank;
  });
  for (const Worker* const worker : {&workers_[0], &workers_[1], &workers_[2]}) {
    EXPECT_EQ(worker->session->status().counter("lost_in_flight"), 0U);
    EXPECT_NEAR(worker->mean(), 3, 0.03);
  }
}

INSTANTIATE_TEST_SUITE_P(Codecs, GridChangeSession, ::testing::Values("fp32", "topk:0.3"),
                         [](const auto& info) { return std::string(info.param).substr(0, 4); });

class GridChangeRefused : public SessionTest {};

TEST_F(GridChangeRefused, changes_that_cannot_be_name_why) {
  const auto error_of = [](const auto& what) {
    try {
      what();
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string("nothing thrown");
  };
  Quadratic worker(0);
  Session session(worker.adapter, options("ring:3", 0));
  EXPECT_THAT(error_of([&] { session.add(1, {0}); }), HasSubstr("it is there already"));
  EXPECT_THAT(error_of([&] { session.add(3, {0, 9}); }), HasSubstr("neighbour 9 is not there"));
  EXPECT_THAT(error_of([&] { session.remove(7); }), HasSubstr("not there"));
  EXPECT_EQ(session.size(), 3);
  Quadratic lock_step(1);
  Session sync(lock_step.adapter, options("ring:3", 1, "sync"));
  EXPECT_THAT(error_of([&] { sync.remove(2); }), HasSubstr("mode sync"));
  Quadratic late(3);
  const stencil::Grid grid(stencil::Topology::parse("ring:3"));
  SessionOptions without = options("ring:3", 2);
  without.rank = 3;
  EXPECT_THAT(error_of([&] { Session newcomer(late.adapter, without, grid); }),
              HasSubstr("rank 3 is outside"));
  without.rank = 2;
  stencil::Grid another(stencil::Topology::parse("ring:4"));
  EXPECT_THAT(error_of([&] { Session newcomer(late.adapter, without, another); }),
              HasSubstr("no place on the given grid"));
}

}  // namespace
}  // namespace fast
