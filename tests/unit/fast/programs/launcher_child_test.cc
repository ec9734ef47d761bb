#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>

#include "fast/errors.h"
#include "fast/programs/launch/child_process.h"

namespace fast {
namespace {

using ::testing::ElementsAre;

/// Reads until the child closes its output, then until it has ended.
void wait_for_end(ChildProcess& child) {
  while (child.descriptor() >= 0) {
    pollfd wait{child.descriptor(), POLLIN, 0};
    ASSERT_EQ(poll(&wait, 1, 30'000), 1) << "the child wrote nothing for 30 s";
    child.read_output();
  }
  while (child.running()) child.reap();
}

void wait_for_output(ChildProcess& child) {
  pollfd wait{child.descriptor(), POLLIN, 0};
  ASSERT_EQ(poll(&wait, 1, 30'000), 1);
  child.read_output();
}

TEST(ChildProcessTest, ItsExitCodeAndLastLinesAreKept) {
  ChildProcess child("/bin/sh", {"-c", "echo one; echo \"$GREETING\" >&2; exit 7"},
                     {{"GREETING", "two"}});
  wait_for_end(child);
  EXPECT_EQ(child.exit().code, 7);
  EXPECT_EQ(child.exit().shell_code(), 7);
  EXPECT_FALSE(child.exit().ok());
  EXPECT_THAT(child.last_lines(), ElementsAre("one", "two"));
}

TEST(ChildProcessTest, OnlyTheEndOfALongOutputIsKept) {
  ChildProcess child("/bin/sh",
                     {"-c", "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done"}, {});
  wait_for_end(child);
  EXPECT_TRUE(child.exit().ok());
  ASSERT_EQ(child.last_lines().size(), 12U);
  EXPECT_EQ(child.last_lines().back(), "line 19999");
}

TEST(ChildProcessTest, ASignalThatEndsItIsNamed) {
  ChildProcess child("/bin/sh", {"-c", "echo ready; exec sleep 60"}, {});
  wait_for_output(child);
  child.signal(SIGKILL);
  wait_for_end(child);
  EXPECT_EQ(child.exit().signal, SIGKILL);
  EXPECT_EQ(child.exit().shell_code(), 137);
  EXPECT_EQ(signal_name(SIGKILL), "SIGKILL");
}

TEST(ChildProcessTest, ItHearsSignalsThatItsParentBlocks) {
  sigset_t mask, old;
  sigemptyset(&mask);
  sigaddset(&mask, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &mask, &old);
  ChildProcess child("/bin/sh", {"-c", "echo ready; exec sleep 60"}, {});
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  wait_for_output(child);
  child.signal(SIGTERM);
  wait_for_end(child);
  EXPECT_EQ(child.exit().signal, SIGTERM);
}

TEST(ChildProcessTest, AVariableCanBeTakenAway) {
  setenv("FAST_TEST_VARIABLE", "here", 1);
  ChildProcess child("/bin/sh", {"-c", "echo \"[$FAST_TEST_VARIABLE]\""},
                     {{"FAST_TEST_VARIABLE", ""}});
  unsetenv("FAST_TEST_VARIABLE");
  wait_for_end(child);
  EXPECT_THAT(child.last_lines(), ElementsAre("[]"));
}

TEST(ChildProcessTest, AProgramThatIsNotThereIsAnErrorThatNamesIt) {
  try {
    ChildProcess child("/nonexistent/fast-worker", {}, {});
    ADD_FAILURE();
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("/nonexistent/fast-worker"));
  }
}

TEST(ChildProcessTest, ActivityTellsAStoppedChild) {
  ChildProcess child("/bin/sh", {"-c", "echo ready; exec sleep 60"}, {});
  wait_for_output(child);
  EXPECT_THAT(child.activity(), ::testing::Not(::testing::HasSubstr("stopped")));
  child.signal(SIGSTOP);
  while (child.activity().find("stopped") == std::string::npos) {
  }
}

}  // namespace
}  // namespace fast
