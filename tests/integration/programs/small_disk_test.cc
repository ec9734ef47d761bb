// A disk that is full for a while in mid-run, or at the end: a file system of its own, which needs
// a mount namespace.
#include <gmock/gmock.h>

#include <filesystem>
#include <iostream>
#include <string>

#include "tests/support/cifar_files.h"
#include "tests/support/process.h"

namespace fast::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Trains two workers in a file system of 4 MB that is filled once all train, and copies the run's
/// folder out of it at the end. `$1`: an empty folder; `$2`: where the run is copied to; `$3`: what
/// happens when nothing more can be written.
constexpr char kScript[] = R"(
  mount -t tmpfs -o size=4m none "$1" || exit 77
  run="$1/run"
  '%FAST%' train --model linear --data synthetic:256,64 --epochs 800 --topology ring:2 --threads 1 \
    --checkpoint-every 0.2 --report-every 0.1 --lr 0.01 --out "$run" > "$2.txt" 2>&1 &
  trainer=$!
  for rank in 0 1; do
    until [ -s "$run/worker-$rank/checkpoint.safetensors" ]; do
      kill -0 $trainer || exit 78
      sleep 0.05
    done
  done
  dd if=/dev/zero of="$1/fill" bs=4k 2>/dev/null
  eval "$3"
  wait $trainer
  code=$?
  rm -f "$1/fill"
  cat "$2.txt"
  cp -r "$run" "$2"
  exit $code
)";

class SmallDiskTest : public ::testing::Test {
 protected:
  /// Whether a user's own mount namespace can be made here. Says so where it cannot.
  [[nodiscard]] static bool can_mount() {
    const ProgramResult able =
        run_program("/bin/sh", {"-c", "unshare -rm sh -c 'mount -t tmpfs -o size=1m none /mnt'"});
    if (able.code != 0) std::cout << "left out: no file system can be mounted here: " << able.err;
    return able.code == 0;
  }
  [[nodiscard]] ProgramResult train(const std::string& when_full) {
    std::string script = kScript;
    script.replace(script.find("%FAST%"), 6, FAST_PROGRAM);
    std::filesystem::create_directories(folder_.path() / "disk");
    return run_program("/usr/bin/env",
                       {"unshare", "-rm", "bash", "-c", script, "script",
                        (folder_.path() / "disk").string(), run().string(), when_full},
                       {}, kPatience);
  }
  [[nodiscard]] std::filesystem::path run() const { return folder_.path() / "run"; }

  TemporaryFolder folder_;
};

TEST_F(SmallDiskTest, ADiskThatIsFullForAWhileCostsNothingButCheckpoints) {
  if (!can_mount()) return;
  const ProgramResult result = train(R"(
    until grep -q 'worker 0: no checkpoint: ' "$2.txt"; do sleep 0.05; done
    rm "$1/fill")");
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("model to use"), HasSubstr("worker 0: no checkpoint: ")))
      << "said while it lasts";
}

TEST_F(SmallDiskTest, ADiskThatIsFullAtTheEndIsNamedAfterTheAccuracies) {
  if (!can_mount()) return;
  const ProgramResult result = train("");
  EXPECT_EQ(result.code, 4) << result.out << result.err;
  EXPECT_THAT(result.out + result.err,
              AllOf(HasSubstr((folder_.path() / "disk").string()), HasSubstr("accuracy")));
  for (const std::string worker : {"worker-0", "worker-1"}) {
    EXPECT_TRUE(std::filesystem::exists(run() / worker / "model.safetensors"))
        << "room was kept for it";
  }
}

}  // namespace
}  // namespace fast::testing
