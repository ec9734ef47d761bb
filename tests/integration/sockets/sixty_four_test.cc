// Sixty-four real processes, over each transport.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>

#include "stencil/core/topology.h"
#include "tests/support/cifar_files.h"
#include "tests/support/faults.h"

namespace fast::testing {
namespace {

struct Way {
  const char* name;
  const char* transport;
  bool keys;
};
// ZeroMQ with keys has all that ZeroMQ has without.
constexpr Way kWays[] = {{"tcp", "tcp", false}, {"zmq_keys", "zmq", true}};

constexpr int kWorkers = 64;
/// Two cores start the processes, of which each loads LibTorch where it is in use.
constexpr std::chrono::seconds kLong{240};

class SixtyFourTest : public ::testing::TestWithParam<Way> {
 protected:
  [[nodiscard]] std::vector<std::string> arguments() const {
    std::vector<std::string> out = {"train",
                                    "--model",
                                    "linear",
                                    "--data",
                                    "synthetic:2048,64",
                                    "--topology",
                                    "torus:8x8",
                                    "--transport",
                                    GetParam().transport,
                                    "--share-memory",
                                    "never",
                                    "--insecure",
                                    "--epochs",
                                    "1000000",  // it is ended when all is shown
                                    "--batch",
                                    "8",
                                    "--warmup",
                                    "0",
                                    "--lr",
                                    "0.01",
                                    "--threads",
                                    "1",
                                    "--report-every",
                                    "2",
                                    "--checkpoint-every",
                                    "0",
                                    "--start-deadline",
                                    std::to_string(kLong.count()),
                                    "--suspect-after",
                                    "30",
                                    "--settle-deadline",
                                    "5",
                                    "--quiet",
                                    "--out",
                                    run_.path().string()};
    for (int rank = 0; rank < kWorkers; ++rank) {
      out.insert(out.end(), {"--slow", std::to_string(rank) + ":60"});
    }
    if (GetParam().keys) out.insert(out.end(), {"--keys", keys_});
    return out;
  }

  /// Whether `rank` has averaged with every neighbour, over the transport.
  [[nodiscard]] bool has_met_all(int rank) const {
    const WorkerHistory history = run_.history(rank);
    if (history.progress.empty()) return false;
    const auto& neighbours = history.progress.back().neighbours;
    return neighbours.size() == 4 && std::ranges::all_of(neighbours, [](const auto& neighbour) {
             return neighbour.link == "up" && neighbour.sweeps > 0 && neighbour.bytes > 0 &&
                    !neighbour.shared;
           });
  }

  TemporaryFolder folder_;
  RunWatch run_{folder_.path() / "run"};
  std::string keys_ = (folder_.path() / "keys").string();
};

INSTANTIATE_TEST_SUITE_P(Ways, SixtyFourTest, ::testing::ValuesIn(kWays),
                         [](const auto& way) { return way.param.name; });

TEST_P(SixtyFourTest, EachAveragesWithAllItsNeighboursAndAllEndInGoodOrder) {
  if (GetParam().keys) {
    const ProgramResult made =
        run_program(FAST_PROGRAM, {"keys", "--out", keys_, "--workers", std::to_string(kWorkers)});
    ASSERT_EQ(made.code, 0) << made.err;
  }
  Program program(FAST_PROGRAM, arguments());
  int first_without = 0;
  EXPECT_TRUE(program.wait_until(
      [&] {
        while (first_without < kWorkers && has_met_all(first_without)) ++first_without;
        return first_without == kWorkers;
      },
      kLong))
      << "worker " << first_without << " has not averaged with all its neighbours\n"
      << program.err();
  EXPECT_EQ(worker_pids(program.pid()).size(), static_cast<std::size_t>(kWorkers));
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait(kLong).code, 130) << program.err();
  for (int rank = 0; rank < kWorkers; ++rank) {
    const WorkerHistory history = run_.history(rank);
    ASSERT_TRUE(history.end) << "worker " << rank << " left no end";
    EXPECT_EQ(history.end->exit_code, 130) << rank << ": " << history.end->text;
    for (const char* const fault : {"malformed", "checksum", "unproven", "gone"}) {
      EXPECT_EQ(history.end->counters.at(fault), 0U) << fault << " of worker " << rank;
    }
  }
}

}  // namespace
}  // namespace fast::testing
