// A run that is ended by a signal, or seems to be: no model is lost.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/cifar_files.h"
#include "tests/support/process.h"

namespace fast::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class EndsTest : public ::testing::Test {
 protected:
  [[nodiscard]] fs::path run() const { return folder_.path() / "run"; }
  [[nodiscard]] fs::path worker(int rank) const {
    return run() / ("worker-" + std::to_string(rank));
  }
  [[nodiscard]] std::vector<std::string> job(const std::string& topology,
                                             const std::string& epochs) const {
    return {"train",
            "--model",
            "linear",
            "--data",
            "synthetic:512,128",
            "--topology",
            topology,
            "--epochs",
            epochs,
            "--out",
            run().string(),
            "--threads",
            "1",
            "--lr",
            "0.01",
            "--report-every",
            "0.2",
            "--settle-deadline",
            "5",
            "--start-deadline",
            "20"};
  }
  [[nodiscard]] std::string shell_line(const std::vector<std::string>& arguments) const {
    std::string line = FAST_PROGRAM;
    for (const std::string& argument : arguments) line += " '" + argument + "'";
    return line;
  }
  [[nodiscard]] bool trains(int rank) const {
    return read_text(worker(rank) / "metrics.jsonl").find("\"training\"") != std::string::npos;
  }
  [[nodiscard]] bool all_train(int workers) const {
    for (int rank = 0; rank < workers; ++rank) {
      if (!trains(rank)) return false;
    }
    return true;
  }
  void expect_models(int workers) const {
    for (int rank = 0; rank < workers; ++rank) {
      EXPECT_TRUE(fs::exists(worker(rank) / "model.safetensors")) << rank;
    }
    EXPECT_TRUE(fs::exists(run() / "summary.json"));
  }

  TemporaryFolder folder_;
};

TEST_F(EndsTest, AReaderThatGoesAwayEndsNothing) {
  const std::string line = shell_line(job("ring:2", "200"));
  const ProgramResult result = run_program(
      "/bin/bash", {"-c", line + " 2>&1 | head -1; exit ${PIPESTATUS[0]}"}, {}, kPatience);
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  expect_models(2);
}

TEST_F(EndsTest, ATerminalThatGoesAwayEndsNothing) {
  std::vector<std::string> arguments = job("ring:2", "600");
  arguments.insert(arguments.begin(), FAST_PROGRAM);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  ASSERT_GE(child, 0);
  if (child == 0) {
    execv(argv[0], argv.data());
    _exit(127);
  }
  fcntl(terminal, F_SETFD, FD_CLOEXEC);  // else the next child would keep the terminal open
  // Only to wait with a deadline.
  Program clock("/bin/sleep", {"600"});
  ASSERT_TRUE(clock.wait_until([&] { return all_train(2); }, kPatience));
  close(terminal);
  int status = 0;
  const bool ended =
      clock.wait_until([&] { return waitpid(child, &status, WNOHANG) == child; }, kPatience);
  if (!ended) kill(child, SIGKILL);
  ASSERT_TRUE(ended);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  expect_models(2);
}

TEST_F(EndsTest, SignalsToALauncherAndItsGroupAtOnceLoseNoModel) {
  // As `timeout` does it.
  Program program(FAST_PROGRAM, job("ring:2", "100000"));
  ASSERT_TRUE(program.wait_until([&] { return all_train(2); }, kPatience)) << program.err();
  program.signal(SIGTERM);
  kill(-program.pid(), SIGINT);
  const ProgramResult result = program.wait(kPatience);
  EXPECT_EQ(result.code, 130) << result.out << result.err;
  expect_models(2);
}

TEST_F(EndsTest, ASignalOnceAllWorkersAreDoneDoesNotCostTheReport) {
  Program program(FAST_PROGRAM, job("ring:2", "100000"));
  ASSERT_TRUE(program.wait_until([&] { return all_train(2); }, kPatience)) << program.err();
  program.signal(SIGTERM);
  const auto left = [&] {
    return program.out().find("worker 0 left in good order") != std::string::npos &&
           program.out().find("worker 1 left in good order") != std::string::npos;
  };
  ASSERT_TRUE(program.wait_until(left, kPatience)) << program.out();
  program.signal(SIGINT);
  const ProgramResult result = program.wait(kPatience);
  EXPECT_EQ(result.code, 130) << result.signal << result.out << result.err;
  expect_models(2);
  EXPECT_TRUE(fs::exists(run() / "mean.safetensors"));
}

TEST_F(EndsTest, TwoSignalsToAWorkerAtOnceLoseNoModel) {
  Program program(FAST_PROGRAM, job("ring:2", "100000"));
  ASSERT_TRUE(program.wait_until([&] { return all_train(2); }, kPatience)) << program.err();
  for (const pid_t worker : children_of(program.pid())) {
    kill(worker, SIGTERM);
    kill(worker, SIGINT);
  }
  const ProgramResult result = program.wait(kPatience);
  EXPECT_EQ(result.code, 130) << result.out << result.err;
  expect_models(2);
}

TEST_F(EndsTest, AWorkerWithoutAStartDeadlineNamesWhomItWaitsForUntilASignalEndsIt) {
  std::vector<std::string> arguments = job("ring:2", "1");
  arguments.erase(arguments.begin());
  arguments.back() = "0";
  arguments.insert(arguments.end(), {"--rank", "0", "--listen", "tcp://127.0.0.1:0"});
  Program program(FAST_WORKER, arguments);
  ASSERT_TRUE(program.wait_until(
      [&] { return read_text(worker(0) / "log.txt").find("waits for ") != std::string::npos; },
      kPatience))
      << program.err();
  EXPECT_THAT(read_text(worker(0) / "log.txt"),
              HasSubstr("waits for neighbour 1 (connecting, step 0) to begin, for as long as it "
                        "takes (--start-deadline 0)"));
  program.signal(SIGTERM);
  const ProgramResult result = program.wait(kPatience);
  EXPECT_EQ(result.code, 130) << result.out << result.err;
  EXPECT_THAT(read_text(worker(0) / "log.txt"), HasSubstr("stopped on request before its first"));
}

TEST_F(EndsTest, NohupHoldsWhateverLibrariesDoWithTheSignal) {
  const std::string line = shell_line(job("ring:2", "400"));
  Program program("/bin/bash", {"-c", "trap '' HUP; LD_PRELOAD='" FAST_TAKES_HANGUP
                                      "' ASAN_OPTIONS=verify_asan_link_order=0 exec " +
                                          line});
  ASSERT_TRUE(program.wait_until([&] { return all_train(2); }, kPatience)) << program.err();
  program.signal(SIGHUP);
  for (const pid_t worker : children_of(program.pid())) kill(worker, SIGHUP);
  const ProgramResult result = program.wait(kPatience);
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  expect_models(2);
}

}  // namespace
}  // namespace fast::testing
