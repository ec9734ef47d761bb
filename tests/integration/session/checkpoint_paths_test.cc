// Where sessions save and resume from: each at a place of its own, or it says so when it is opened.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "tests/integration/session/session_fixture.h"
#include "tests/support/cifar_files.h"

namespace fast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class CheckpointPaths : public SessionTest {
 protected:
  template <typename Error>
  std::string error_of(const SessionOptions& options) {
    Quadratic worker(options.rank);
    try {
      const Session session(worker.adapter, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  ::fast::testing::TemporaryFolder folder_;
};

TEST_F(CheckpointPaths, HoldTheRankWhereItIsAskedFor) {
  in_threads(2, [this](int rank) {
    Quadratic worker(rank);
    SessionOptions of = options("ring:2", rank);
    of.checkpoint = of.resume = path("c-{rank}.safetensors");
    Session session(worker.adapter, of);
    worker.step();
    session.exchange({.samples = 1, .loss = 1});
    session.finish();
  });
  for (const char* const name : {"c-0.safetensors", "c-1.safetensors"}) {
    EXPECT_TRUE(std::filesystem::exists(path(name))) << name;
  }
}

TEST_F(CheckpointPaths, ThatTwoRanksShareAreRefusedByName) {
  Quadratic worker(0);
  SessionOptions zero = options("ring:2", 0), one = options("ring:2", 1);
  zero.checkpoint = one.checkpoint = path("c.safetensors");
  const Session session(worker.adapter, zero);
  EXPECT_THAT(error_of<ConfigError>(one), AllOf(HasSubstr(zero.checkpoint), HasSubstr("{rank}")));
}

TEST_F(CheckpointPaths, ThatCannotBeWrittenAreRefusedAtOnce) {
  SessionOptions alone = options("ring:1", 0);
  alone.checkpoint = "/proc/no/such/folder/c.safetensors";
  EXPECT_THAT(error_of<FileError>(alone), HasSubstr("/proc/no/such/folder"));
}

TEST_F(CheckpointPaths, ThatAreNotThereToResumeFromAreSaid) {
  SessionOptions alone = options("ring:1", 0);
  std::string warnings;
  alone.log = [&warnings](stencil::LogLevel level, std::string_view text) {
    if (level >= stencil::LogLevel::kWarning) warnings += text;
  };
  alone.resume = path("other.safetensors");
  EXPECT_EQ(error_of<std::exception>(alone), "");
  EXPECT_THAT(warnings, AllOf(HasSubstr("other.safetensors"), HasSubstr("begins anew")));
}

}  // namespace
}  // namespace fast
