#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>

#include "stencil/core/topology.h"
#include "tests/support/cifar_files.h"
#include "tests/support/faults.h"

namespace fast::testing {
namespace {

using Edge = std::pair<int, int>;

/// The connections between workers, from the system's tables of sockets.
struct Picture {
  std::map<Edge, int> between;  ///< lower rank, higher rank -> connections
  int unknown = 0;              ///< connections outside the run, or not yet in both tables
};

Picture look(const std::map<int, pid_t>& pids) {
  std::map<int, std::vector<Connection>> held;
  for (const auto& [rank, pid] : pids) held[rank] = connections_of(pid);
  Picture picture;
  for (const auto& [rank, connections] : held) {
    for (const Connection& mine : connections) {
      bool found = false;
      for (const auto& [other, theirs] : held) {
        const auto same = [&](const Connection& c) {
          return c.local_port == mine.remote_port && c.remote_port == mine.local_port;
        };
        if (std::none_of(theirs.begin(), theirs.end(), same)) continue;
        found = true;
        // Both ends are in the tables: each connection counts once.
        if (rank <= other) ++picture.between[{rank, other}];
      }
      if (!found) ++picture.unknown;
    }
  }
  return picture;
}

class SocketsTest : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Topologies, SocketsTest,
                         ::testing::Values("torus:3x3", "ring:5", "grid:2x3"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), ':', '_');
                           return name;
                         });

TEST_P(SocketsTest, NobodyIsEverConnectedToOneThatIsNoNeighbourAndEachEdgeIsOneConnection) {
  const TemporaryFolder folder;
  const RunWatch run(folder.path() / "run");
  const auto topology = stencil::Topology::parse(GetParam());
  const int workers = topology.size();
  Program program(FAST_PROGRAM, {"train",
                                 "--model",
                                 "linear",
                                 "--data",
                                 "synthetic:512,128",
                                 "--topology",
                                 GetParam(),
                                 "--epochs",
                                 "100000",
                                 "--out",
                                 run.path().string(),
                                 "--threads",
                                 "1",
                                 "--lr",
                                 "0.01",
                                 "--report-every",
                                 "0.2",
                                 "--settle-deadline",
                                 "5",
                                 "--quiet"});
  std::map<int, pid_t> pids;
  ASSERT_TRUE(program.wait_until(
      [&] {
        pids = worker_pids(program.pid());
        return pids.size() == static_cast<std::size_t>(workers);
      },
      kPatience));
  std::set<Edge> edges;
  for (const auto& [a, b] : topology.edges()) edges.insert(std::minmax(a, b));

  const auto only_neighbours = [&](const Picture& picture) {
    for (const auto& [pair, count] : picture.between) {
      EXPECT_TRUE(edges.contains(pair))
          << "worker " << pair.first << " is connected to worker " << pair.second;
    }
  };
  // From the first moment, through the time when both ends of an edge dial, until all train.
  int looks = 0;
  ASSERT_TRUE(program.wait_until(
      [&] {
        only_neighbours(look(pids));
        ++looks;
        return run.all_train(workers);
      },
      kPatience))
      << program.err();
  EXPECT_GT(looks, 0);
  std::string seen;
  const auto one_each = [&] {
    const Picture picture = look(pids);
    only_neighbours(picture);
    seen = std::to_string(picture.unknown) + " unknown";
    bool exact = picture.unknown == 0;
    for (const Edge& edge : edges) {
      const auto it = picture.between.find(edge);
      const int count = it == picture.between.end() ? 0 : it->second;
      exact &= count == 1;
      seen += ", " + std::to_string(edge.first) + "-" + std::to_string(edge.second) + ": " +
              std::to_string(count);
    }
    return exact;
  };
  EXPECT_TRUE(program.wait_until(one_each, kPatience)) << seen;
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait(kPatience).code, 130) << program.err();
}

}  // namespace
}  // namespace fast::testing
