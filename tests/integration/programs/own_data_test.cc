// Runs on data of one's own: killed workers come back, runs go on, files that change are named.
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "fast/run/run_folder.h"
#include "tests/support/cifar_files.h"
#include "tests/support/faults.h"
#include "tests/support/npy_files.h"
#include "tests/support/picture_files.h"

namespace fast::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Arguments = std::vector<std::string>;

/// A data set of one's own, and what is trained on it.
struct Own {
  const char* name;
  /// Writes it into a folder and returns its spec.
  std::string (*write)(const fs::path& folder);
  Arguments training;
  const char* file;  ///< one that is trained from, below the folder
};
void PrintTo(const Own& own, std::ostream* out) {
  *out << own.name;
}

std::string write_arrays(const fs::path& folder) {
  write_npy(folder, 2000, 200, 12);
  return "npy:" + folder.string();
}

std::string write_a_folder_of_pictures(const fs::path& folder) {
  write_pictures(folder, 20);
  return "images:" + folder.string() + ",6,grey";
}

std::string write_a_table(const fs::path& folder) {
  std::string table = "height,\"kind, say\",class\n";
  for (int i = 0; i < 2000; ++i) {
    table += std::to_string(i % 7) + (i % 2 == 0 ? ".5,even,left\n" : ".25,\"od\"\"d\",right\n");
  }
  write_bytes(folder / "table.csv", Bytes(table.begin(), table.end()));
  return "csv:" + (folder / "table.csv").string();
}

class OwnDataTest : public ::testing::TestWithParam<Own> {
 protected:
  void SetUp() override {
    fs::create_directories(data_);
    spec_ = GetParam().write(data_);
  }
  [[nodiscard]] Arguments arguments(const Arguments& more) const {
    Arguments all = {"--data",
                     spec_,
                     "--out",
                     run_.path().string(),
                     "--threads",
                     "1",
                     "--report-every",
                     "0.1",
                     "--checkpoint-every",
                     "0.1"};
    all.insert(all.end(), GetParam().training.begin(), GetParam().training.end());
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  /// `fast train` on two workers; waits until both train.
  void train(const Arguments& more) {
    Arguments all =
        arguments({"--topology", "ring:2", "--suspect-after", "0.5", "--epochs", "100000"});
    all.insert(all.begin(), "train");
    all.insert(all.end(), more.begin(), more.end());
    program_ = std::make_unique<Program>(FAST_PROGRAM, all);
    ASSERT_TRUE(program_->wait_until([&] { return run_.all_train(2); }, kPatience))
        << program_->err();
  }
  [[nodiscard]] bool has_checkpoint(int rank) const {
    return program_->wait_until([&] { return fs::exists(RunFolder(run_.path()).checkpoint(rank)); },
                                kPatience);
  }
  /// Waits until it has resumed from its checkpoint and made a step.
  [[nodiscard]] bool goes_on(int rank) const {
    return program_->wait_until(
        [&] {
          const WorkerHistory history = run_.history(rank);
          return run_.log(rank).find("goes on from step ") != std::string::npos &&
                 history.lives.size() > 1 &&
                 history.progress.size() > history.lives.back().first_progress &&
                 history.progress.back().step > 0;
        },
        kPatience);
  }

  TemporaryFolder folder_;
  fs::path data_ = folder_.path() / "a folder, of data";
  RunWatch run_{folder_.path() / "run"};
  std::string spec_;
  std::unique_ptr<Program> program_;
};

INSTANTIATE_TEST_SUITE_P(
    Kinds, OwnDataTest,
    ::testing::Values(
        Own{"Arrays", write_arrays, {"--model", "linear", "--lr", "0.01"}, "train-x.npy"},
        Own{"Table", write_a_table, {"--model", "linear", "--lr", "0.01"}, "table.csv"},
        Own{"Pictures",
            write_a_folder_of_pictures,
            {"--model", "linear", "--lr", "0.01"},
            "train/bright class/0.jpg"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_P(OwnDataTest, AWorkerThatIsKilledComesBackAndTrains) {
  train({"--restarts", "1"});
  ASSERT_TRUE(has_checkpoint(1)) << program_->err();
  kill(worker_pids(program_->pid()).at(1), SIGKILL);
  ASSERT_TRUE(goes_on(1)) << program_->out() << program_->err();
  program_->signal(SIGINT);
  const ProgramResult result = program_->wait(kPatience);
  EXPECT_EQ(result.code, 130) << result.out << result.err;
  EXPECT_EQ(run_.summary()["restarts"], nlohmann::json({0, 1}));
}

TEST_P(OwnDataTest, ARunThatIsStoppedGoesOnAndOneOnOtherDataIsRefused) {
  train({});
  for (const int rank : {0, 1}) ASSERT_TRUE(has_checkpoint(rank)) << program_->err();
  program_->signal(SIGINT);
  ASSERT_EQ(program_->wait(kPatience).code, 130);
  const ProgramResult other = run_program(
      FAST_PROGRAM, {"train", "--resume", run_.path().string(), "--data", "synthetic:100,10"}, {},
      kPatience);
  EXPECT_NE(other.code, 0);
  EXPECT_THAT(other.out + other.err, HasSubstr("is of another run"));
  program_ =
      std::make_unique<Program>(FAST_PROGRAM, Arguments{"train", "--resume", run_.path().string()});
  for (const int rank : {0, 1}) ASSERT_TRUE(goes_on(rank)) << program_->out() << program_->err();
  program_->signal(SIGINT);
  EXPECT_EQ(program_->wait(kPatience).code, 130);
}

TEST_P(OwnDataTest, AFileThatIsCutOffWhileItIsTrainedFromIsNamedAndTheModelSaved) {
  Program worker(FAST_WORKER, arguments({"--topology", "ring:1", "--rank", "0", "--listen",
                                         "tcp://127.0.0.1:0", "--epochs", "100000"}));
  ASSERT_TRUE(worker.wait_until([&] { return run_.step(0) > 0; }, kPatience)) << worker.err();
  fs::resize_file(data_ / GetParam().file, 300);
  const ProgramResult result = worker.wait(kPatience);
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr(GetParam().file), HasSubstr("; ")));
  EXPECT_TRUE(fs::exists(RunFolder(run_.path()).worker_model(0)));
}

}  // namespace
}  // namespace fast::testing
