// Every file of a run folder that somebody reads again, in every state that an accident may leave:
// what is lost is named, and never is a result that lacks a worker one that ended well.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/support/cifar_files.h"
#include "tests/support/process.h"

namespace fast::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::Eq;
using ::testing::HasSubstr;

enum class State {
  kMissing,
  kEmpty,
  kCut,
  kFlipped,
  kOfAnotherRun,
  kFolder,
  kDangling,
  kUnreadable
};

constexpr std::pair<State, const char*> kStates[] = {
    {State::kMissing, "Missing"},   {State::kEmpty, "Empty"},
    {State::kCut, "Cut"},           {State::kFlipped, "Flipped"},
    {State::kFolder, "Folder"},     {State::kOfAnotherRun, "OfAnotherRun"},
    {State::kDangling, "Dangling"}, {State::kUnreadable, "Unreadable"}};

void write(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

void damage(const fs::path& file, const fs::path& of_another_run, State state) {
  std::string text = read_text(file);
  switch (state) {
    case State::kEmpty:
      return write(file, "");
    case State::kCut:
      return write(file, text.substr(0, std::min<std::size_t>(text.size() / 2, 200)));
    case State::kFlipped:
      // In JSON and TOML a bit of the first character; elsewhere one of a tensor.
      text[text.starts_with("{") || text.starts_with("#") ? 0 : text.size() - 1] ^= 0x40;
      return write(file, text);
    default:
      break;
  }
  fs::remove(file);
  if (state == State::kOfAnotherRun) fs::copy_file(of_another_run, file);
  if (state == State::kFolder) fs::create_directory(file);
  if (state == State::kDangling) fs::create_symlink(file.parent_path() / "nowhere", file);
  // A link to itself: no user can read it, not even root.
  if (state == State::kUnreadable) fs::create_symlink(file, file);
}

std::string case_name(const ::testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
  return name;
}

/// Two runs of the same shape; the parameter is a file, damaged in copies of the first, in every
/// way.
class DamagedFilesTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    for (const char* const seed : {"1", "2"}) {
      const ProgramResult result =
          run_program(FAST_PROGRAM,
                      {"train", "--model", "linear", "--data", "synthetic:200,50", "--epochs", "1",
                       "--out", (folder_.path() / seed).string(), "--threads", "1", "--topology",
                       "ring:2", "--seed", seed},
                      {}, kPatience);
      ASSERT_EQ(result.code, 0) << result.out << result.err;
    }
  }
  /// Calls check(state) for each state of the file in the folder run_.
  template <typename Check>
  void in_every_state(Check check) {
    for (const auto& [state, name] : kStates) {
      SCOPED_TRACE(name);
      fs::remove_all(run_);
      fs::copy(folder_.path() / "1", run_, fs::copy_options::recursive);
      damage(run_ / file_, folder_.path() / "2" / file_, state);
      check(state);
    }
  }

  TemporaryFolder folder_;
  fs::path run_ = folder_.path() / "run";
  std::string file_ = GetParam();
};

class DamagedWorkerTest : public DamagedFilesTest {};

INSTANTIATE_TEST_SUITE_P(Files, DamagedWorkerTest,
                         ::testing::Values("worker-1/model.safetensors", "worker-1/metrics.jsonl"),
                         case_name);

TEST_P(DamagedWorkerTest, AMeanThatLacksAWorkerDoesNotEndWell) {
  in_every_state([this](State state) {
    const bool two_runs = state == State::kOfAnotherRun && file_.ends_with(".jsonl");
    const ProgramResult report =
        run_program(FAST_PROGRAM, {"report", run_.string()}, {}, kPatience);
    EXPECT_EQ(report.code, two_runs ? 4 : 8) << report.out << report.err;
    EXPECT_THAT(report.err,
                HasSubstr(two_runs ? "of different runs" : "worker 1 is not in the mean model: "));
  });
}

class DamagedRunTest : public DamagedFilesTest {};

INSTANTIATE_TEST_SUITE_P(Files, DamagedRunTest,
                         ::testing::Values("config.toml", "summary.json", "mean.safetensors",
                                           "worker-1/endpoint", "worker-1/life"),
                         case_name);

TEST_P(DamagedRunTest, WhatIsNotNeededIsMadeAnewOrNamed) {
  in_every_state([this](State) {
    const ProgramResult report =
        run_program(FAST_PROGRAM, {"report", run_.string()}, {}, kPatience);
    EXPECT_THAT(report.code, AnyOf(Eq(0), Eq(2), Eq(4))) << report.out << report.err;
    if (report.code == 0) {
      EXPECT_EQ(read_text(run_ / "mean.safetensors"),
                read_text(folder_.path() / "1" / "mean.safetensors"));
    } else {
      EXPECT_THAT(report.err, HasSubstr(file_));
    }
  });
}

/// What a worker reads when it is started again.
class DamagedResumeTest : public DamagedFilesTest {};

INSTANTIATE_TEST_SUITE_P(Files, DamagedResumeTest,
                         ::testing::Values("worker-1/checkpoint.safetensors", "worker-1/endpoint",
                                           "worker-1/life", "worker-1/metrics.jsonl",
                                           "config.toml"),
                         case_name);

TEST_P(DamagedResumeTest, ARunGoesOnOrNamesWhatItCannotRead) {
  in_every_state([this](State) {
    const ProgramResult result = run_program(
        FAST_PROGRAM,
        {"train", "--resume", run_.string(), "--start-deadline", "2", "--settle-deadline", "2"}, {},
        kPatience);
    EXPECT_FALSE(result.timed_out);
    EXPECT_EQ(result.signal, 0);
    EXPECT_THAT(result.code, AnyOf(Eq(0), Eq(2), Eq(4), Eq(8))) << result.out << result.err;
    if (result.code != 0) {
      // Who went on from an older checkpoint may find that the others have gone.
      const std::string name = fs::path(file_).filename().string();
      EXPECT_THAT(result.out + result.err, HasSubstr(result.code == 8 ? "worker 1" : name));
    } else {
      // The run was over, and is what it was.
      EXPECT_TRUE(read_text(run_ / "mean.safetensors") ==
                  read_text(folder_.path() / "1" / "mean.safetensors"));
    }
  });
}

/// What workers find that are started by hand in a folder that others have used, each for itself.
class DamagedStartTest : public DamagedFilesTest {
 protected:
  /// As config.toml says.
  [[nodiscard]] Program worker(int rank) const {
    const std::string root = run_.string();
    return Program(FAST_WORKER,
                   {"--config", (run_ / "config.toml").string(), "--rank", std::to_string(rank),
                    "--run-id", "again", "--insecure", "--out", root, "--listen", "127.0.0.1:0",
                    "--peer-template", "file:" + root + "/worker-{rank}/endpoint",
                    "--start-deadline", "2", "--settle-deadline", "10"});
  }
};

INSTANTIATE_TEST_SUITE_P(Files, DamagedStartTest,
                         ::testing::Values("worker-1/endpoint", "worker-1/life",
                                           "worker-1/metrics.jsonl", "config.toml"),
                         case_name);

TEST_P(DamagedStartTest, WorkersTrainTogetherOrNameWhatTheyCannotRead) {
  in_every_state([this](State) {
    for (const char* const rank : {"0", "1"}) {
      const fs::path folder = run_ / ("worker-" + std::string(rank));
      for (const char* const file : {"model", "checkpoint", "checkpoint.previous"}) {
        fs::remove(folder / (std::string(file) + ".safetensors"));
      }
    }
    Program first = worker(0), second = worker(1);
    const ProgramResult results[] = {first.wait(kPatience), second.wait(kPatience)};
    const bool well = results[0].code == 0 && results[1].code == 0;
    const std::string said = results[0].err + results[1].err;
    for (const ProgramResult& result : results) {
      EXPECT_FALSE(result.timed_out);
      EXPECT_EQ(result.signal, 0);
      if (well) continue;
      // Who is left without the other trains alone, and says so.
      EXPECT_THAT(result.code, AnyOf(Eq(2), Eq(4), Eq(8), Eq(11))) << said;
      EXPECT_THAT(said, HasSubstr(fs::path(file_).filename().string()));
    }
    const ProgramResult report =
        run_program(FAST_PROGRAM, {"report", run_.string()}, {}, kPatience);
    EXPECT_TRUE(well || report.code != 0) << report.out << report.err << said;
    // An empty configuration is one of defaults: of four workers.
    if (well && report.code != 0) {
      EXPECT_EQ(report.code, 8);
      EXPECT_THAT(report.err, HasSubstr("worker 2 is not in the mean model"));
    }
  });
}

}  // namespace
}  // namespace fast::testing
