// Mistakes of users and accidents of the system: each is harmless or reported.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/cifar_files.h"
#include "tests/support/process.h"

namespace fast::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Strings = std::vector<std::string>;

class AccidentsTest : public ::testing::Test {
 protected:
  [[nodiscard]] fs::path run(const std::string& name = "run") const {
    return folder_.path() / name;
  }
  static nlohmann::json summary_of(const fs::path& run) {
    return nlohmann::json::parse(read_text(run / "summary.json"));
  }
  /// A small job; `more` overrides its options.
  [[nodiscard]] Strings job(const Strings& more) const {
    Strings all = {"train",    "--model",    "linear", "--data",       "synthetic:200,50",
                   "--epochs", "1",          "--out",  run().string(), "--threads",
                   "1",        "--topology", "ring:2"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  [[nodiscard]] ProgramResult train(const Strings& more,
                                    const std::map<std::string, std::string>& environment = {}) {
    return run_program(FAST_PROGRAM, job(more), environment, kPatience);
  }
  /// One of its workers again, as config.toml says.
  [[nodiscard]] ProgramResult by_hand(int rank, const std::string& more) const {
    const std::string config = read_text(run() / "config.toml");
    const std::size_t begin = config.find("#   ") + 4;
    std::string worker = config.substr(begin, config.find('\n', begin) - begin);
    worker.back() = static_cast<char>('0' + rank);  // K, its rank
    return run_program("/bin/sh", {"-c", "cd / && exec " + worker + " " + more}, {}, kPatience);
  }

  TemporaryFolder folder_;
};

TEST_F(AccidentsTest, AShareOfAnEpochThatIsLessThanABatchIsABatchAWorker) {
  const ProgramResult result = train({"--epochs", "0.001"});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_GE(summary_of(run())["samples"], 64);
}

TEST_F(AccidentsTest, ARunFolderMayBeNamedLikeAPlaceholder) {
  const fs::path out = folder_.path() / "r" / "{rank}";
  const ProgramResult result = train({"--start-deadline", "60", "--out", out.string()});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_GT(summary_of(out)["sweeps_completed"], 0);
}

TEST_F(AccidentsTest, WorkersThatNeverMetDoNotEndWell) {
  const ProgramResult alone = run_program(
      FAST_WORKER,
      {"--model", "linear", "--data", "synthetic:200,50", "--epochs", "0.1", "--topology", "ring:2",
       "--rank", "0", "--start-deadline", "0.1", "--out", run().string(), "--threads", "1"},
      {}, kPatience);
  EXPECT_EQ(alone.code, 11) << alone.err;
  EXPECT_THAT(alone.err, HasSubstr("no exchange with any neighbour"));
  EXPECT_TRUE(fs::exists(run() / "worker-0" / "model.safetensors"));
}

TEST_F(AccidentsTest, FewerExamplesThanWorkersAreRefusedBeforeAnythingStarts) {
  const ProgramResult result = train({"--topology", "ring:4", "--data", "synthetic:3,50"});
  EXPECT_EQ(result.code, 3) << result.out;
  EXPECT_THAT(result.err, AllOf(HasSubstr("too few for 4 workers"), HasSubstr("partition own")));
  EXPECT_FALSE(fs::exists(run()));
}

TEST_F(AccidentsTest, DataMayLieBelowATildeAndIsFoundFromAnyFolder) {
  write_cifar10(folder_.path() / "home" / "data", 1, 40, 10);
  const ProgramResult tilde =
      train({"--data", "cifar10:~/data"}, {{"HOME", (folder_.path() / "home").string()}});
  ASSERT_EQ(tilde.code, 0) << tilde.err;

  std::string line = "cd '" + (folder_.path() / "home").string() + "' && exec '" FAST_PROGRAM "'";
  for (const std::string& word : job({"--data", "cifar10:data", "--out", run("second").string()})) {
    line += " '" + word + "'";
  }
  const ProgramResult relative = run_program("/bin/sh", {"-c", line}, {}, kPatience);
  ASSERT_EQ(relative.code, 0) << relative.err;
  for (const std::string name : {"run", "second"}) {
    const ProgramResult report = run_program(
        "/bin/sh", {"-c", "cd / && exec '" FAST_PROGRAM "' report '" + run(name).string() + "'"},
        {}, kPatience);
    EXPECT_EQ(report.code, 0) << report.err;
    EXPECT_TRUE(summary_of(run(name))["test_accuracy"]["mean_model"].is_number());
  }
}

TEST_F(AccidentsTest, AFolderMayHaveALineBreakInItsName) {
  const ProgramResult result = train({"--out", run("two\nlines").string()});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
}

TEST_F(AccidentsTest, TheCommandsOfARelativeFolderWorkFromAnywhere) {
  std::string line = "cd '" + folder_.path().string() + "' && exec '" FAST_PROGRAM "'";
  for (const std::string& word : job({"--out", "run"})) line += " '" + word + "'";
  ASSERT_EQ(run_program("/bin/sh", {"-c", line}, {}, kPatience).code, 0);
  EXPECT_THAT(read_text(run() / "config.toml"), HasSubstr("out = \"" + run().string() + "\""));
  // As config.toml says, after its last metrics are gone.
  const auto size = fs::file_size(run() / "worker-1" / "metrics.jsonl");
  const ProgramResult again = by_hand(1, "--start-deadline 0.1");
  EXPECT_GT(fs::file_size(run() / "worker-1" / "metrics.jsonl"), size) << again.err;
}

TEST_F(AccidentsTest, AWorkingFolderThatWasRemovedIsNamed) {
  const std::string gone = (folder_.path() / "gone").string();
  std::string line = "mkdir '" + gone + "' && cd '" + gone + "' && rmdir '" + gone +
                     "' && exec '" FAST_PROGRAM "'";
  for (const std::string& word : job({"--out", "run"})) line += " '" + word + "'";
  const ProgramResult result = run_program("/bin/sh", {"-c", line}, {}, kPatience);
  EXPECT_EQ(result.code, 4) << result.err;
  EXPECT_THAT(result.err, HasSubstr("check that the folder is there"));
}

TEST_F(AccidentsTest, ACopyOfAWorkersFolderIsNamedBeforeTraining) {
  ASSERT_EQ(train({}).code, 0);
  fs::copy(run() / "worker-0", run() / "worker-99", fs::copy_options::recursive);
  const auto size = fs::file_size(run() / "worker-0" / "metrics.jsonl");
  const ProgramResult result =
      run_program(FAST_PROGRAM, {"train", "--resume", run().string()}, {}, kPatience);
  EXPECT_EQ(result.code, 4) << result.out;
  EXPECT_THAT(
      result.err,
      HasSubstr("worker-99 is there, and the topology that is given has ranks from 0 to 1"));
  EXPECT_EQ(fs::file_size(run() / "worker-0" / "metrics.jsonl"), size);
}

TEST_F(AccidentsTest, AClockInAnotherYearIsNoYearOfTraining) {
  ASSERT_EQ(train({}).code, 0);
  // Worker 1 began in 1970.
  std::string metrics = read_text(run() / "worker-1" / "metrics.jsonl");
  const std::size_t begin = metrics.find("\"unix_time\":") + 12;
  metrics.replace(begin, metrics.find(',', begin) - begin, "86400.5");
  std::ofstream(run() / "worker-1" / "metrics.jsonl") << metrics;
  const ProgramResult report = run_program(FAST_PROGRAM, {"report", run().string()}, {}, kPatience);
  EXPECT_EQ(report.code, 0) << report.err;
  const double day = 24 * 3600;
  EXPECT_LT(summary_of(run())["wall_seconds"], day);
  EXPECT_LT(summary_of(run())["training_seconds"], day);
}

TEST_F(AccidentsTest, AConfigurationMayBeginWithAByteOrderMark) {
  std::ofstream(folder_.path() / "some.toml") << "\xEF\xBB\xBF"
                                                 "batch = 16\n";
  const ProgramResult result =
      train({"--config", (folder_.path() / "some.toml").string(), "--print-config"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("batch = 16"));
}

TEST_F(AccidentsTest, AFileSystemWithoutLocksIsWarnedOf) {
  const ProgramResult result =
      train({"--epochs", "20"},
            {{"LD_PRELOAD", FAST_NO_LOCKS}, {"ASAN_OPTIONS", "verify_asan_link_order=0"}});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("has no locks"));
}

TEST_F(AccidentsTest, ALowSoftLimitOfOpenFilesIsRaised) {
  std::string line = "ulimit -S -n 20; exec '" FAST_PROGRAM "'";
  for (const std::string& word : job({"--topology", "ring:16", "--epochs", "20"})) {
    line += " '" + word + "'";
  }
  const ProgramResult result = run_program("/bin/sh", {"-c", line}, {}, kPatience);
  EXPECT_EQ(result.code, 0) << result.out << result.err;
}

TEST_F(AccidentsTest, ALimitOfOpenFilesThatIsNamedIsEnough) {
  const auto limited = [this](int files) {
    fs::remove_all(run());
    std::string line = "ulimit -n " + std::to_string(files) + "; exec '" FAST_PROGRAM "'";
    for (const std::string& word : job({"--epochs", "20"})) line += " '" + word + "'";
    return run_program("/bin/sh", {"-c", line}, {}, kPatience);
  };
  const ProgramResult refused = limited(26);
  EXPECT_EQ(refused.code, 2) << refused.out;
  EXPECT_FALSE(fs::exists(run()));
  const std::string before = "ulimit -n ";
  const std::size_t at = refused.err.find(before);
  ASSERT_NE(at, std::string::npos) << refused.err;
  const ProgramResult enough = limited(std::stoi(refused.err.substr(at + before.size())));
  EXPECT_EQ(enough.code, 0) << enough.out << enough.err;
}

TEST_F(AccidentsTest, AWorkerThatIsStartedAgainWhenAllIsDoneEndsWell) {
  // As one that was killed in its evaluation.
  ASSERT_EQ(train({"--epochs", "20"}).code, 0);
  const std::string model = read_text(run() / "worker-1" / "model.safetensors");
  fs::remove(run() / "worker-1" / "model.safetensors");
  const ProgramResult again = by_hand(1, "--start-deadline 600");
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  EXPECT_TRUE(read_text(run() / "worker-1" / "model.safetensors") == model);
  EXPECT_EQ(run_program(FAST_PROGRAM, {"report", run().string()}, {}, kPatience).code, 0);
}

TEST_F(AccidentsTest, AWorkerThatComesTooLateSaysWhoseModelIsTheResult) {
  // As one that was killed in its first seconds, before a checkpoint.
  ASSERT_EQ(train({"--epochs", "20"}).code, 0);
  for (const char* const file : {"model", "checkpoint", "checkpoint.previous"}) {
    fs::remove(run() / "worker-1" / (std::string(file) + ".safetensors"));
  }
  const ProgramResult late = by_hand(1, "--start-deadline 0.1 --settle-deadline 1");
  EXPECT_EQ(late.code, 11) << late.out << late.err;
  EXPECT_THAT(late.err,
              AllOf(HasSubstr("came too late: worker 0 of this run had ended in agreement"),
                    HasSubstr((run() / "worker-0" / "model.safetensors").string())));
}

TEST_F(AccidentsTest, ARunThatIsResumedWhenAllIsDoneKeepsItsResult) {
  ASSERT_EQ(train({"--topology", "ring:4", "--epochs", "4"}).code, 0);
  const std::string mean = read_text(run() / "mean.safetensors");
  const ProgramResult again =
      run_program(FAST_PROGRAM, {"train", "--resume", run().string()}, {}, kPatience);
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  EXPECT_TRUE(read_text(run() / "mean.safetensors") == mean);
  EXPECT_EQ(summary_of(run())["islands"], nlohmann::json::array());
}

TEST_F(AccidentsTest, TooFewOpenFilesAreNamedBeforeAnythingStarts) {
  std::string line = "ulimit -n 40; exec '" FAST_PROGRAM "'";
  for (const std::string& word : job({"--topology", "ring:40"})) line += " '" + word + "'";
  const ProgramResult result = run_program("/bin/sh", {"-c", line}, {}, kPatience);
  EXPECT_EQ(result.code, 2) << result.out;
  EXPECT_THAT(result.err, HasSubstr("ulimit -n 64"));
  EXPECT_FALSE(fs::exists(run()));
}

TEST_F(AccidentsTest, TooFewThreadsAreNamedBeforeTraining) {
  const auto limited = [this](const char* threads) {
    return run_program(
        FAST_WORKER,
        {"--model", "linear", "--data", "synthetic:200,50", "--epochs", "1", "--topology", "ring:1",
         "--rank", "0", "--out", run().string(), "--threads", "1"},
        {{"LD_PRELOAD", FAST_FEW_THREADS},
         {"FAST_TEST_THREADS", threads},
         {"ASAN_OPTIONS", "verify_asan_link_order=0"}},
        kPatience);
  };
  for (const char* const threads : {"0", "3"}) {
    const ProgramResult result = limited(threads);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr("ulimit -u")) << threads;
    EXPECT_FALSE(fs::exists(run()));
  }
  EXPECT_EQ(limited("100").code, 0);
}

TEST_F(AccidentsTest, ThreadsOfAWorkerThatWaitForEachOtherSleep) {
  const auto policy = [this](const char* threads) {
    // Nobody is there to meet, so it stays until it is told to end.
    Program worker("/usr/bin/env", {"-u", "OMP_WAIT_POLICY", FAST_WORKER, "--model", "linear",
                                    "--data", "synthetic:200,50", "--topology", "ring:2", "--rank",
                                    "0", "--out", run().string(), "--threads", threads});
    const fs::path endpoint = run() / "worker-0" / "endpoint";
    EXPECT_TRUE(worker.wait_until([&] { return fs::exists(endpoint); })) << worker.err();
    const std::string variables = read_text("/proc/" + std::to_string(worker.pid()) + "/environ");
    worker.signal(SIGTERM);
    (void)worker.wait();
    fs::remove_all(run());
    return variables.find("OMP_WAIT_POLICY=passive") != std::string::npos;
  };
  EXPECT_TRUE(policy("2"));
  EXPECT_FALSE(policy("1"));  // one thread waits for nobody
}

TEST_F(AccidentsTest, AddressesThatHelpNobodyAreNamedAtTheStart) {
  const Strings common = {"--model", "linear", "--data", "synthetic:200,50", "--topology", "ring:3",
                          "--rank",  "0",      "--out",  run().string(),     "--threads",  "1"};
  const std::string file = (folder_.path() / "peers").string();
  Strings missing = common;
  missing.insert(missing.end(), {"--peer", "1=node..1:5555", "--peers", file});  // no name at all
  Program worker(FAST_WORKER, missing);
  const auto said = [&worker](const std::string& part) {
    return worker.err().find(part) != std::string::npos;
  };
  EXPECT_TRUE(worker.wait_until(
      [&] {
        return said("the name 'node..1' cannot be resolved: ") &&
               said("cannot read the peers file '" + file + "': No such file or directory");
      },
      kPatience))
      << worker.err();
  std::ofstream(file) << "node2:5555\n";
  EXPECT_TRUE(
      worker.wait_until([&] { return said(file + ":1: 'node2:5555' is skipped"); }, kPatience))
      << worker.err();
  worker.signal(SIGTERM);
  EXPECT_EQ(worker.wait(kPatience).code, 130);

  Strings link_local = common;
  link_local.insert(link_local.end(), {"--peer", "1=[fe80::1]:5555"});
  const ProgramResult refused = run_program(FAST_WORKER, link_local, {}, kPatience);
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("zmq://[fe80::1%INTERFACE]:5555"));
}

TEST_F(AccidentsTest, OneSignalEndsAWorkerThatCannotStart) {
  // A topology that is being read for ever, after signals are waited for.
  const fs::path pipe = folder_.path() / "edges";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  Program worker(FAST_WORKER, {"--model", "linear", "--data", "synthetic:200,50", "--topology",
                               "edges:" + pipe.string(), "--rank", "0", "--out", run().string()});
  int writer = -1;  // there can be one once somebody reads
  ASSERT_TRUE(worker.wait_until(
      [&] { return (writer = open(pipe.c_str(), O_WRONLY | O_NONBLOCK)) >= 0; }, kPatience));
  worker.signal(SIGTERM);
  const ProgramResult result = worker.wait(kPatience);
  close(writer);
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.code, 130);
}

TEST_F(AccidentsTest, NoRoomForWhatWillComeIsToldBeforeTraining) {
  // A limit of file sizes, in kB, simulates a disk with little room.
  std::string line = "ulimit -f 64; exec '" FAST_PROGRAM "'";
  for (const std::string& word : job({"--epochs", "100000"})) line += " '" + word + "'";
  const ProgramResult result = run_program("/bin/bash", {"-c", line}, {}, kPatience);
  EXPECT_EQ(result.code, 4) << result.out << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("no room in"), HasSubstr("worker-0")));
}

TEST_F(AccidentsTest, AMachineWithoutIpv4TrainsOverIpv6) {
  const bool has_ipv6 = read_text("/proc/net/if_inet6").find(" lo") != std::string::npos;
  const ProgramResult result =
      train({"--epochs", "20", "--transport", "tcp"},
            {{"LD_PRELOAD", FAST_NO_IPV4}, {"ASAN_OPTIONS", "verify_asan_link_order=0"}});
  // Without either nothing can be trained, which is told.
  EXPECT_EQ(result.code, has_ipv6 ? 0 : 5) << result.out << result.err;
  if (has_ipv6) {
    EXPECT_GT(summary_of(run())["sweeps_completed"], 0);
  }
}

}  // namespace
}  // namespace fast::testing
