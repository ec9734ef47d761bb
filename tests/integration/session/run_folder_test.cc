// What a session leaves in the folder that SessionOptions::out names.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "fast/exit_codes.h"
#include "fast/run/metrics.h"
#include "fast/run/run_folder.h"
#include "fast/run/safetensors.h"
#include "tests/integration/session/session_fixture.h"
#include "tests/support/cifar_files.h"

namespace fast {
namespace {

using ::testing::HasSubstr;

class RunFolderTest : public SessionTest {
 protected:
  [[nodiscard]] SessionOptions options() {
    SessionOptions options = SessionTest::options("ring:1", 0);
    options.out = folder_.path().string();
    options.stop = &stop_;
    return options;
  }
  static void train(Quadratic& worker, Session& session, int steps) {
    for (int step = 0; step < steps; ++step) {
      worker.step();
      session.exchange({.samples = 2, .loss = 0.5});
    }
  }
  [[nodiscard]] WorkerHistory history() const { return read_metrics(run_.metrics(0)); }
  [[nodiscard]] bool saved() const { return std::filesystem::exists(run_.worker_model(0)); }

  testing::TemporaryFolder folder_;
  RunFolder run_{folder_.path()};
  std::atomic<bool> stop_{false};
};

TEST_F(RunFolderTest, HoldsTheModelAndWhatWasDone) {
  Quadratic worker(0);
  {
    Session session(worker.adapter, options());
    train(worker, session, 3);
    EXPECT_EQ(session.finish(), Agreement::kAgreed);
    EXPECT_FALSE(history().progress.empty());
  }
  const WorkerHistory history = this->history();
  EXPECT_EQ(history.starts, 1);
  EXPECT_EQ(history.progress.back().samples, 6U);
  EXPECT_FALSE(history.progress.back().accuracy.has_value());
  ASSERT_TRUE(history.end.has_value());
  EXPECT_EQ(history.end->exit_code, static_cast<int>(ExitCode::kOk));
  const SafetensorsFile model = SafetensorsFile::open(run_.worker_model(0));
  EXPECT_EQ(model.metadata().at(kEndedKey), "agreed");
  const auto bytes = model.tensors().at(0).bytes;
  EXPECT_EQ(std::memcmp(bytes.data(), worker.x.data(), bytes.size()), 0);
}

TEST_F(RunFolderTest, SaysWhyOneEndedTheRunForAll) {
  Quadratic worker(0);
  {
    Session session(worker.adapter, options());
    train(worker, session, 3);
    session.stop_all("it is good enough");
    EXPECT_EQ(session.finish(), Agreement::kAgreed);
  }
  const auto events = history().events;
  const auto ended = std::ranges::find(events, "stopping", &WorkerHistory::Event::event);
  ASSERT_NE(ended, events.end());
  EXPECT_EQ(ended->text, "ends the run for all workers: it is good enough");
}

TEST_F(RunFolderTest, SaysThatTheLossHasGrownAThousandfold) {
  Quadratic worker(0);
  std::vector<std::string> said;
  SessionOptions options = this->options();
  options.log = [&](LogLevel level, std::string_view line) {
    if (level == LogLevel::kWarning) said.emplace_back(line);
  };
  Session session(worker.adapter, options);
  train(worker, session, 20);  // of a loss of 0.5
  EXPECT_EQ(session.status().not_learnt, "");
  for (int step = 0; step < 200; ++step) {
    worker.step();
    session.exchange({.samples = 1, .loss = 700});
  }
  EXPECT_EQ(session.finish(), Agreement::kAgreed);
  EXPECT_EQ(history().end.value().exit_code, static_cast<int>(ExitCode::kNotLearnt));
  EXPECT_THAT(history().end.value().text, HasSubstr("from 0.5 to "));
  EXPECT_THAT(said, ::testing::SizeIs(2)) << "as it happens, and at the end";
  EXPECT_TRUE(saved());
}

TEST_F(RunFolderTest, SaysWhereTheSessionDidNotFinish) {
  Quadratic worker(0);
  {
    Session session(worker.adapter, options());
    train(worker, session, 1);
  }
  EXPECT_EQ(history().end.value().exit_code, static_cast<int>(ExitCode::kFailure));
  EXPECT_THAT(history().end.value().text, HasSubstr("before finish()"));
  EXPECT_FALSE(saved());
}

TEST_F(RunFolderTest, WhoWasStoppedBeforeAStepLeavesNoModel) {
  Quadratic worker(0);
  stop_ = true;
  Session session(worker.adapter, options());
  (void)session.finish();
  EXPECT_EQ(history().end.value().exit_code, static_cast<int>(ExitCode::kInterrupted));
  EXPECT_FALSE(saved());
}

TEST_F(RunFolderTest, ASecondSessionThatResumesContinuesTheRecord) {
  Quadratic worker(0);
  const auto checkpoint = folder_.path() / "c.safetensors";
  SessionOptions options = this->options();
  {
    Session first(worker.adapter, options);
    train(worker, first, 2);
    first.save_checkpoint(checkpoint);
  }
  options.resume = checkpoint.string();
  Session second(worker.adapter, options);
  train(worker, second, 1);
  EXPECT_EQ(second.finish(), Agreement::kAgreed);
  EXPECT_EQ(history().starts, 2);
  EXPECT_EQ(history().older_runs, 0);
  EXPECT_THAT(history().events.at(0).text, HasSubstr("from step 2"));
}

}  // namespace
}  // namespace fast
