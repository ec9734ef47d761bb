// The main job on the real data. Needs FAST_CIFAR10_DIR, a folder with CIFAR-10's binary files.
#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/support/cifar_files.h"
#include "tests/support/faults.h"

namespace fast::testing {
namespace {

TEST(CifarTest, ATorusOfFourTrainsResnet8ToWellOverHalfInAnEpochAndAHalf) {
  const char* const data = std::getenv("FAST_CIFAR10_DIR");
  ASSERT_NE(data, nullptr) << "set FAST_CIFAR10_DIR to a folder with CIFAR-10's binary files";
  const TemporaryFolder folder;
  const RunWatch run(folder.path() / "run");
  const ProgramResult result = run_program(
      FAST_PROGRAM,
      {"train", "--topology", "torus:2x2", "--model", "resnet8", "--data",
       std::string("cifar10:") + data, "--epochs", "1.5", "--out", run.path().string(), "--quiet"},
      {}, std::chrono::seconds(1700));
  ASSERT_EQ(result.code, 0) << result.out << result.err;
  const nlohmann::json summary = run.summary();
  EXPECT_EQ(summary["exit_codes"], nlohmann::json({0, 0, 0, 0}));
  EXPECT_GT(summary["exchange_share"], 0);
  EXPECT_LT(summary["exchange_share"], 1);
  const auto& accuracy = summary["test_accuracy"];
  const double mean = accuracy["mean_model"];
  EXPECT_GE(mean, 0.56);
  ASSERT_EQ(accuracy["workers"].size(), 4U);
  for (const double worker : accuracy["workers"]) EXPECT_NEAR(worker, mean, 0.01);
  RecordProperty("summary", summary.dump());
}

}  // namespace
}  // namespace fast::testing
