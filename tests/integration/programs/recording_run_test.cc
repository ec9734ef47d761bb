// fast-worker --record, and what fast replay makes of it.
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/cifar_files.h"
#include "tests/support/process.h"

namespace fast::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class RecordingRunTest : public ::testing::Test {
 protected:
  [[nodiscard]] fs::path file(int rank) const {
    return folder_.path() / ("worker-" + std::to_string(rank) + ".journal");
  }
  [[nodiscard]] std::vector<std::string> job(const std::string& epochs) const {
    return {"--model",   "linear",
            "--data",    "synthetic:512,128",
            "--epochs",  epochs,
            "--out",     (folder_.path() / "run").string(),
            "--threads", "1",
            "--lr",      "0.01",
            "--record",  (folder_.path() / "worker-{rank}.journal").string()};
  }
  [[nodiscard]] ProgramResult replay(int rank) const {
    return run_program(FAST_PROGRAM, {"replay", "--quiet", file(rank).string()}, {}, kPatience);
  }

  TemporaryFolder folder_;
};

TEST_F(RecordingRunTest, a_worker_leaves_one_at_its_end_and_one_when_it_is_asked) {
  std::vector<std::string> arguments = job("100000");
  arguments.insert(arguments.end(), {"--topology", "ring:1", "--rank", "0"});
  Program worker(FAST_WORKER, arguments);
  const fs::path metrics = folder_.path() / "run" / "worker-0" / "metrics.jsonl";
  ASSERT_TRUE(worker.wait_until(
      [&] { return read_text(metrics).find("\"training\"") != std::string::npos; }, kPatience))
      << worker.err();
  EXPECT_FALSE(fs::exists(file(0)));
  const fs::path checkpoint = metrics.parent_path() / "checkpoint.safetensors";
  EXPECT_FALSE(fs::exists(checkpoint)) << "after a minute for the first time";
  worker.signal(SIGUSR1);
  ASSERT_TRUE(worker.wait_until([&] { return fs::exists(checkpoint); }, kPatience)) << worker.err();
  ASSERT_TRUE(worker.wait_until([&] { return fs::exists(file(0)); }, kPatience)) << worker.err();
  EXPECT_EQ(replay(0).code, 0);
  fs::remove(file(0));
  worker.signal(SIGTERM);
  (void)worker.wait(kPatience);
  const ProgramResult replayed = replay(0);
  EXPECT_EQ(replayed.code, 0) << replayed.err;
  EXPECT_THAT(replayed.out, HasSubstr("all decided as recorded"));
}

TEST_F(RecordingRunTest, so_do_all_workers_of_a_run) {
  std::vector<std::string> arguments = job("4");
  arguments.insert(arguments.begin(), "train");
  arguments.insert(arguments.end(), {"--topology", "ring:2", "--record-seconds", "1"});
  const ProgramResult trained = run_program(FAST_PROGRAM, arguments, {}, kPatience);
  EXPECT_EQ(trained.code, 0) << trained.err;
  for (const int rank : {0, 1}) {
    const ProgramResult replayed = replay(rank);
    EXPECT_EQ(replayed.code, 0) << replayed.err;
    EXPECT_THAT(replayed.out, HasSubstr("worker " + std::to_string(rank) + ": "));
  }
}

}  // namespace
}  // namespace fast::testing
