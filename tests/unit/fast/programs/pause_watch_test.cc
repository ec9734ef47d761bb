// What makes a worker pause: a signal, a file, a command.
#include "fast/programs/launch/pause_watch.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "fast/errors.h"
#include "stencil/threads/mutex.h"
#include "tests/support/cifar_files.h"

namespace fast::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PauseWatchTest : public ::testing::Test {
 protected:
  [[nodiscard]] PauseSources sources(const std::string& command = "") const {
    return {.file = file_,
            .command = command,
            .look_every = milliseconds(1),
            .ask_every = milliseconds(1),
            .answer_within = milliseconds(30'000)};
  }
  void touch() const { std::ofstream{file_}; }
  /// Waits until the wish is `wanted`; the test's own deadline ends it otherwise.
  void await(bool wanted) {
    while (watch_.wanted() != wanted) std::this_thread::yield();
  }
  std::string error_of(const PauseSources& sources) {
    try {
      watch_.watch(sources);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "no error";
  }
  std::vector<std::string> said() {
    const stencil::MutexLock lock(mutex_);
    return said_;
  }

  TemporaryFolder folder_;
  std::string file_ = (folder_.path() / "pause").string();
  stencil::Mutex mutex_;
  std::vector<std::string> said_;
  std::atomic<bool> stop_ = false;
  PauseWatch watch_{[this](LogLevel, std::string_view text) {
    const stencil::MutexLock lock(mutex_);
    said_.emplace_back(text);
  }};
};

TEST_F(PauseWatchTest, nothing_is_wanted_where_nothing_is_given) {
  watch_.watch({});
  EXPECT_FALSE(watch_.wanted());
  EXPECT_TRUE(watch_.wait(stop_, {}));
}

TEST_F(PauseWatchTest, a_file_pauses_from_its_first_look_on_until_it_is_gone) {
  touch();
  watch_.watch(sources());
  EXPECT_TRUE(watch_.wanted());
  EXPECT_THAT(watch_.why(), HasSubstr(file_));
  std::filesystem::remove(file_);
  EXPECT_TRUE(watch_.wait(stop_, {}));
  EXPECT_FALSE(watch_.wanted());
  touch();
  await(true);
}

TEST_F(PauseWatchTest, one_signal_pauses_and_the_next_one_ends_it) {
  watch_.toggle();
  EXPECT_TRUE(watch_.wanted());
  EXPECT_THAT(watch_.why(), HasSubstr("SIGUSR2"));
  watch_.toggle();
  EXPECT_FALSE(watch_.wanted());
}

TEST_F(PauseWatchTest, a_stop_ends_the_wait) {
  watch_.toggle();
  stop_ = true;
  EXPECT_FALSE(watch_.wait(stop_, {}));
}

TEST_F(PauseWatchTest, a_command_that_ends_with_0_pauses_and_any_other_code_does_not) {
  PauseSources command = sources("test -e " + file_ + ".low");
  command.file.clear();
  watch_.watch(command);
  EXPECT_FALSE(watch_.wanted());
  std::ofstream{file_ + ".low"};
  await(true);
  EXPECT_THAT(watch_.why(), HasSubstr("test -e"));
  std::filesystem::remove(file_ + ".low");
  await(false);
}

TEST_F(PauseWatchTest, a_command_that_cannot_be_run_or_hangs_is_refused_at_the_start) {
  const std::string missing = error_of(sources("no-such-command-here"));
  EXPECT_THAT(missing, HasSubstr("--pause-when 'no-such-command-here' cannot be run"));
  EXPECT_THAT(missing, HasSubstr("not found; use a command"));
  PauseSources hangs = sources("read line < " + file_ + ".fifo");
  ASSERT_EQ(mkfifo((file_ + ".fifo").c_str(), 0600), 0);
  hangs.answer_within = milliseconds(50);
  EXPECT_THAT(error_of(hangs), HasSubstr("has not ended within 0.05 s; use a command"));
}

/// The file is where the command waits for ever.
TEST_F(PauseWatchTest, one_that_hangs_later_changes_nothing_and_is_named_once) {
  const std::string fifo = file_ + ".fifo";
  PauseSources hangs = sources("test -p " + fifo + " && read line < " + fifo + "; true");
  hangs.file.clear();
  hangs.answer_within = milliseconds(2'000);
  watch_.watch(hangs);
  EXPECT_TRUE(watch_.wanted());
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  while (said().empty()) std::this_thread::yield();
  EXPECT_TRUE(watch_.wanted());
  EXPECT_THAT(said(), ElementsAre(HasSubstr("has not ended within 2 s, and nothing changes")));
}

TEST_F(PauseWatchTest, where_no_pause_can_be_a_signal_is_answered_with_the_reason) {
  watch_.toggle();
  watch_.refuse("there is no checkpoint");
  EXPECT_FALSE(watch_.wanted());
  watch_.toggle();
  EXPECT_FALSE(watch_.wanted());
  EXPECT_THAT(said(), ElementsAre(HasSubstr("there is no checkpoint")));
}

}  // namespace
}  // namespace fast::testing
