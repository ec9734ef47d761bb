// A worker as a service: what its manager hears, and what its journal gets.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "tests/support/cifar_files.h"
#include "tests/support/process.h"
#include "tests/support/service_socket.h"

namespace fast::testing {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class ServiceTest : public ::testing::Test {
 protected:
  /// The environment of the unit, with a watchdog that wants to hear of it ten times a second.
  [[nodiscard]] std::map<std::string, std::string> unit(
      const std::map<std::string, std::string>& more) const {
    std::map<std::string, std::string> all{{"NOTIFY_SOCKET", socket_.name()},
                                           {"WATCHDOG_USEC", "400000"},
                                           {"FAST_LOG_STYLE", "journal"},
                                           {"FAST_MODEL", "linear"},
                                           {"FAST_DATA", "synthetic:512,128"},
                                           {"FAST_REPORT_EVERY", "0.05"},
                                           {"FAST_RANK", "0"},
                                           {"FAST_OUT", (folder_.path() / "run").string()}};
    for (const auto& [name, value] : more) all[name] = value;
    return all;
  }
  [[nodiscard]] long times(const std::string& news) {
    return std::ranges::count(socket_.told(), news);
  }

  TemporaryFolder folder_;
  ServiceSocket socket_{(folder_.path() / "notify").string()};
};

TEST_F(ServiceTest, ItIsReadyTellsHowFarItIsAndStopsInTheStyleOfTheJournal) {
  Program worker(FAST_WORKER, {}, unit({{"FAST_TOPOLOGY", "ring:1"}, {"FAST_EPOCHS", "1e6"}}));
  ASSERT_TRUE(worker.wait_until(
      [&] {
        return times("WATCHDOG=1") > 2 &&
               std::ranges::any_of(socket_.told(), [](const std::string& news) {
                 return news.find(" of 0 neighbours up") != std::string::npos;
               });
      },
      kPatience));
  worker.signal(SIGTERM);
  const ProgramResult result = worker.wait(kPatience);
  EXPECT_EQ(result.code, 130);
  EXPECT_EQ(socket_.told().front(), "STATUS=looks for its neighbours");
  EXPECT_EQ(times("READY=1"), 1);
  EXPECT_EQ(socket_.told().back(), "STOPPING=1");
  EXPECT_THAT(socket_.told(),
              Contains(MatchesRegex("STATUS=step [0-9]+, 0 % of the run, loss .*")));
  EXPECT_THAT(lines_of(result.err), Each(MatchesRegex("<[3467]>worker 0: .*")));
  EXPECT_THAT(result.err, HasSubstr("<6>worker 0: stopped early on request"));
}

TEST_F(ServiceTest, AWorkerThatWaitsForItsNeighboursIsReadyAndAlive) {
  Program worker(FAST_WORKER, {},
                 unit({{"FAST_TOPOLOGY", "ring:2"},
                       {"FAST_PEER", "1=127.0.0.1:1"},
                       {"FAST_START_DEADLINE", "600"}}));
  EXPECT_TRUE(worker.wait_until([&] { return times("WATCHDOG=1") > 3; }, kPatience));
  EXPECT_EQ(times("READY=1"), 1);
  worker.signal(SIGTERM);
  EXPECT_EQ(worker.wait(kPatience).code, 130);
}

TEST_F(ServiceTest, AnErrorIsOneLineAndTheServiceHasNotStarted) {
  const ProgramResult result =
      run_program(FAST_WORKER, {},
                  unit({{"FAST_TOPOLOGY", "ring:1"}, {"FAST_DATA", "mnist:/nowhere"}}), kPatience);
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(lines_of(result.err), ::testing::SizeIs(1));
  EXPECT_THAT(result.err, HasSubstr("/nowhere"));
  EXPECT_EQ(times("READY=1"), 0);
}

}  // namespace
}  // namespace fast::testing
