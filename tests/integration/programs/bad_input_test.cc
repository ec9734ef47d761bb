#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/support/cifar_files.h"
#include "tests/support/process.h"

namespace fast::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// Both programs, each with a run folder that must not be created.
class BadInputTest : public ::testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] bool is_worker() const { return std::string(GetParam()) == "worker"; }
  [[nodiscard]] fs::path run() const { return folder_.path() / "run"; }

  ProgramResult start(std::vector<std::string> wishes) {
    std::vector<std::string> arguments = {"--model", "linear"};
    if (!is_worker()) arguments.insert(arguments.begin(), "train");
    if (is_worker() && !given(wishes, "--rank")) wishes.insert(wishes.end(), {"--rank", "0"});
    if (!given(wishes, "--out")) wishes.insert(wishes.end(), {"--out", run().string()});
    arguments.insert(arguments.end(), wishes.begin(), wishes.end());
    return run_program(is_worker() ? FAST_WORKER : FAST_PROGRAM, arguments);
  }
  void expect_refused(const std::vector<std::string>& wishes, int code, const std::string& named) {
    const ProgramResult result = start(wishes);
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_THAT(result.err, AllOf(HasSubstr("error: "), HasSubstr(named), HasSubstr("; ")));
    EXPECT_EQ(result.out, "");
    EXPECT_FALSE(fs::exists(run())) << "something was written";
  }

  TemporaryFolder folder_;

 private:
  static bool given(const std::vector<std::string>& wishes, const std::string& name) {
    return std::find(wishes.begin(), wishes.end(), name) != wishes.end();
  }
};

INSTANTIATE_TEST_SUITE_P(Programs, BadInputTest, ::testing::Values("train", "worker"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(BadInputTest, AnUnknownTopologyIsNamedWithTheValidForms) {
  expect_refused({"--topology", "hexagon:7"}, 2, "hexagon:7");
}

TEST_P(BadInputTest, ARunToResumeThatIsNotThereIsNamed) {
  if (is_worker()) return;
  const std::string none = (folder_.path() / "none").string();
  expect_refused({"--resume", none}, 4, "--resume " + none + ": no run is there");
}

TEST_P(BadInputTest, AnEmptyPathIsNoPath) {
  expect_refused({"--config", ""}, 2, "--config is empty");
  if (!is_worker()) expect_refused({"--resume", ""}, 2, "--resume is empty");
}

TEST_P(BadInputTest, ADisconnectedEdgesFileIsRefused) {
  const fs::path edges = folder_.path() / "edges.txt";
  std::ofstream(edges) << "0 1\n2 3\n";
  expect_refused({"--topology", "edges:" + edges.string()}, 2, "edges.txt");
}

TEST_P(BadInputTest, AnotherNumberOfWorkersThanTheTopologysIsAContradiction) {
  expect_refused({"--topology", "torus:2x2", "--workers", "5"}, 2, "--workers 5 contradicts");
}

TEST_P(BadInputTest, AnUnknownModelIsNamed) {
  expect_refused({"--model", "resnet9000"}, 2, "resnet9000");
}

TEST_P(BadInputTest, AMissingDataSetIsNamed) {
  expect_refused({"--data", "cifar10:" + (folder_.path() / "nowhere").string()}, 3, "nowhere");
}

TEST_P(BadInputTest, ATruncatedDataFileIsNamed) {
  const fs::path data = folder_.path() / "cifar";
  write_cifar10(data, 5, 20, 10);
  fs::resize_file(data / "data_batch_3.bin", 3073 * 7 + 100);
  expect_refused({"--data", "cifar10:" + data.string()}, 3, "data_batch_3.bin");
}

TEST_P(BadInputTest, ALabelOutOfRangeIsNamed) {
  const fs::path data = folder_.path() / "cifar";
  write_cifar10(data, 5, 20, 10);
  std::fstream file(data / "data_batch_2.bin", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(3073 * 4);
  file.put(static_cast<char>(200));
  file.close();
  expect_refused({"--data", "cifar10:" + data.string()}, 3, "data_batch_2.bin");
}

TEST_P(BadInputTest, ARunFolderThatCannotBeWrittenIsNamed) {
  const fs::path file = folder_.path() / "a file";
  std::ofstream(file) << "x";
  expect_refused({"--out", (file / "run").string(), "--data", "synthetic:64,32"}, 4, "a file");
  EXPECT_EQ(read_text(file), "x");
}

TEST_P(BadInputTest, AnUnknownKeyOfTheFileIsNamed) {
  const fs::path file = folder_.path() / "some.toml";
  std::ofstream(file) << "sweep = 2\n";
  expect_refused({"--config", file.string()}, 2, "unknown key 'sweep' (did you mean sweeps?)");
}

class BadRankTest : public ::testing::Test {
 protected:
  ProgramResult start(std::vector<std::string> wishes,
                      const std::map<std::string, std::string>& environment = {}) {
    std::vector<std::string> arguments = {"--model",      "linear", "--out",
                                          run().string(), "--data", "synthetic:64,32"};
    arguments.insert(arguments.end(), wishes.begin(), wishes.end());
    return run_program(FAST_WORKER, arguments, environment);
  }
  [[nodiscard]] fs::path run() const { return folder_.path() / "run"; }
  TemporaryFolder folder_;
};

TEST_F(BadRankTest, ARankOutsideTheTopologyIsRefused) {
  const ProgramResult result = start({"--rank", "4", "--topology", "torus:2x2"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("rank 4"), HasSubstr("0 to 3")));
  EXPECT_FALSE(fs::exists(run()));
}

TEST_F(BadRankTest, ASchedulersRankIsTakenAndChecked) {
  const ProgramResult result = start({"--topology", "torus:2x2"}, {{"SLURM_PROCID", "9"}});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("rank 9"));
  EXPECT_FALSE(fs::exists(run()));
}

TEST_F(BadRankTest, APeerThatIsNoNeighbourIsRefused) {
  const ProgramResult result =
      start({"--rank", "0", "--topology", "ring:5", "--peer", "2=tcp://127.0.0.1:1"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("rank 2 is no neighbour of rank 0"));
  EXPECT_FALSE(fs::exists(run()));
}

TEST_F(BadRankTest, AMissingWorkerProgramIsNamed) {
  const ProgramResult result =
      run_program(FAST_PROGRAM, {"train", "--model", "linear", "--out", run().string(),
                                 "--worker-program", "/nonexistent/fast-worker"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("/nonexistent/fast-worker"));
  EXPECT_FALSE(fs::exists(run()));
}

TEST(BadReportTest, AFolderWithoutWorkersIsRefused) {
  const TemporaryFolder folder;
  const ProgramResult empty = run_program(FAST_PROGRAM, {"report", folder.path().string()});
  EXPECT_EQ(empty.code, 4);
  EXPECT_THAT(empty.err, HasSubstr(folder.path().filename().string()));
  EXPECT_TRUE(fs::is_empty(folder.path()));
  EXPECT_EQ(run_program(FAST_PROGRAM, {"report", "/nonexistent"}).code, 4);
}

TEST(BadOutputTest, AResultThatCouldNotBePrintedIsNoSuccess) {
  for (const char* const command : {"topology torus:2x2", "topology --help", "completion"}) {
    const ProgramResult full = run_program(
        "/bin/sh", {"-c", "'" FAST_PROGRAM "' " + std::string(command) + " >/dev/full"});
    EXPECT_EQ(full.code, 4) << command;
    EXPECT_THAT(full.err, HasSubstr("not all could be printed")) << command;
  }
}

}  // namespace
}  // namespace fast::testing
