#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "fast/data/dataset.h"
#include "fast/run/metrics.h"
#include "fast/run/run_folder.h"
#include "fast/session/session.h"
#include "fast/train/learner.h"
#include "fast/train/worker.h"
#include "tests/support/cifar_files.h"
#include "tests/support/process.h"

namespace fast::testing {

/// A session that dies after a number of steps of this life, as by SIGKILL: it sends no Leave, and
/// what is not on the disk is lost.
class DyingExchange final : public Exchange {
 public:
  struct Killed {};
  DyingExchange(ModelAdapter& adapter, SessionOptions options, int steps)
      : session_(adapter, std::move(options)), left_(steps) {}
  void join() override { session_.join(); }
  void exchange(const StepReport& report) override {
    session_.exchange(report);
    if (--left_ == 0) throw Killed();
  }
  Agreement finish() override { return session_.finish(); }
  double progress() const override { return session_.progress(); }
  double network_loss() const override { return session_.network_loss(); }
  Decisions* decisions() override { return session_.decisions(); }
  SessionStatus status() const override { return session_.status(); }

 private:
  Session session_;
  int left_;
};

/// One worker alone, with the test's learner, in a temporary folder.
struct LoneWorker {
  std::function<std::unique_ptr<Learner>(const LearnerOptions&)> make_learner;
  WorkerConfig config = lone_config();
  TemporaryFolder folder{};

  static WorkerConfig lone_config() {
    WorkerConfig config;
    config.session.topology = "ring:1";
    config.session.rank = 0;
    config.session.listen = "tcp://127.0.0.1:0";
    config.data = "synthetic:200,50";
    config.batch = 8;
    config.epochs = 2;
    config.quiet = true;
    config.jitter = 1e-3;  // uses the worker's random numbers
    config.checkpoint_every = 1e-9;
    return config;
  }

  /// Runs until it ends, or dies after `steps` steps (0: never) of this life.
  WorkerOutcome run(int steps = 0) {
    config.out = folder.path().string();
    const Dataset data = load_dataset(config.data, 1);
    const auto learner = make_learner(learner_options(config, data.spec));
    const std::atomic<bool> stop = false;
    try {
      return Worker(config, data, *learner,
                    [&](ModelAdapter& adapter, SessionOptions options) {
                      return std::make_unique<DyingExchange>(adapter, std::move(options), steps);
                    })
          .run(stop);
    } catch (const DyingExchange::Killed&) {
      return {ExitCode::kFailure, "killed"};
    }
  }
  /// The saved model, byte for byte.
  [[nodiscard]] std::string model() const {
    return read_text(RunFolder(folder.path()).worker_model(0));
  }
};

/// A worker that is killed repeatedly ends with bit for bit the same model.
inline void expect_that_resuming_changes_nothing(LoneWorker& undisturbed, LoneWorker& killed) {
  ASSERT_EQ(undisturbed.run().code, ExitCode::kOk);
  for (const int steps : {7, 1, 20}) EXPECT_EQ(killed.run(steps).text, "killed");
  const WorkerOutcome outcome = killed.run();
  ASSERT_EQ(outcome.code, ExitCode::kOk) << outcome.text;
  const WorkerHistory history = read_metrics(RunFolder(killed.folder.path()).metrics(0));
  const auto resumed = std::ranges::count(history.events, "resumed", &WorkerHistory::Event::event);
  EXPECT_GE(resumed, 1) << "it went on from nothing";
  EXPECT_FALSE(undisturbed.model().empty());
  EXPECT_TRUE(undisturbed.model() == killed.model()) << "another model";
}

}  // namespace fast::testing
