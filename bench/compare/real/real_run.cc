#include "bench/compare/real/real_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "bench/compare/evaluator.h"
#include "bench/compare/interrupted.h"
#include "bench/compare/real/link_shaper.h"
#include "bench/compare/real/participant.h"
#include "bench/compare/real/snapshots.h"
#include "fast/exit_codes.h"
#include "fast/programs/launch/launcher.h"
#include "fast/programs/launch/run_preparation.h"
#include "fast/report/report.h"
#include "fast/run/atomic_file.h"
#include "fast/run/metrics_tail.h"
#include "fast/run/run_folder.h"
#include "fast/train/evaluation.h"

namespace fast::compare {
namespace {

namespace fs = std::filesystem;

class RealRun {
 public:
  RealRun(const Cell& cell, const Split& split, const RealRunOptions& options,
          const std::function<void(double)>& shown)
      : cell_(cell),
        split_(split),
        options_(options),
        shown_(shown),
        folder_(fs::absolute(options.runs) / hash(cell)) {
    fs::remove_all(folder_.root());
    make_writable_folder(folder_.root());
    write_atomically(folder_.root() / "cell.json", to_json(cell));
    for (int rank = 0; rank < cell.workers(); ++rank) tails_.emplace_back(folder_.metrics(rank));
  }

  CellResult execute() {
    const LaunchResult launched = start();
    if (launched.interrupted) throw Interrupted();
    CellResult result;
    result.diverged = std::ranges::any_of(launched.exits, [](const ChildExit& e) {
      return e.code == static_cast<int>(ExitCode::kNonFinite);
    });
    const int code = overall_code(launched);
    const bool some_ended = std::ranges::any_of(launched.exits, &ChildExit::ok);
    if (!result.diverged && code != 0 && some_ended && bears_losses(cell_.strategy)) {
      for (int rank = 0; rank < cell_.workers(); ++rank) {
        const ChildExit& exit = launched.exits[static_cast<std::size_t>(rank)];
        if (exit.shell_code() != 0) lost_.insert(rank);
      }
      result.lost = static_cast<int>(lost_.size());
    } else if (!result.diverged && code != 0) {
      result.failure = why_.empty() ? fmt::format("ended with code {}", code) : why_;
    }
    if (result.diverged || !result.failure.empty()) return result;
    report(launched, result);
    if (cell_.time == TimeKind::kReal) draw_curve(result);
    return result;
  }

 private:
  LaunchResult start() {
    const LinkShaper shaper(cell_.workers() + 1, cell_.condition.link_mbit);
    const std::string run_id = fresh_run_id();
    LaunchOptions launching;
    launching.program = shaper.active() ? LinkShaper::kLauncher : options_.program;
    const int processes = cell_.workers() + (has_server(cell_.strategy) ? 1 : 0);
    for (int rank = 0; rank < processes; ++rank) {
      std::vector<std::string> arguments = shaper.launcher_arguments(rank, options_.program);
      for (const std::string& argument :
           {std::string("member"), std::string("--run"), folder_.root().string(),
            std::string("--rank"), std::to_string(rank), std::string("--run-id"), run_id,
            std::string("--host"), shaper.host(rank), std::string("--threads"),
            std::to_string(options_.threads), std::string("--deadline"),
            fmt::format("{}", options_.deadline)}) {
        arguments.push_back(argument);
      }
      if (!options_.places.cifar10.empty()) {
        arguments.insert(arguments.end(), {"--cifar10", options_.places.cifar10});
      }
      launching.arguments.push_back(arguments);
    }
    const std::string threads = std::to_string(options_.threads);
    launching.environment = {{"OMP_NUM_THREADS", threads},
                             {"OPENBLAS_NUM_THREADS", threads},
                             {"OMP_WAIT_POLICY", "passive"}};
    LaunchObserver observer;
    observer.tick = [this](const std::vector<WorkerProcess>&) { show(); };
    observer.say = [this](const std::string& line, bool bad) {
      if (bad && why_.size() < 2000) why_ += line + "\n";
    };
    observer.how_to_restart = [](int) { return std::string("run the cell again"); };
    return launch(launching, observer);
  }

  void show() {
    double samples = 0, budget = 0;
    for (MetricsTail& tail : tails_) {
      (void)tail.poll();
      if (tail.progress()) samples += static_cast<double>(tail.progress()->samples);
      if (tail.start()) budget = static_cast<double>(tail.start()->budget);
    }
    if (shown_ && budget > 0) shown_(samples / budget);
  }

  /// Completes the run folder as `fast train` does, including the report page.
  void report(const LaunchResult& launched, CellResult& result) {
    const auto learner = make_learner(cell_, split_.examples, 1);
    result.model_bytes = static_cast<double>(learner->adapter().values().size_bytes());
    EvaluateFn evaluate;
    if (cell_.time == TimeKind::kReal) {
      evaluate = [&](std::span<const NamedTensor> mean_model) {
        const TestResult result = evaluate_model(mean_model, *learner, split_.training, cell_.seed);
        return MeanResult{result.accuracy, result.loss, result.chance};
      };
    }
    const Summary summary =
        write_report({folder_.root()}, folder_.root(), evaluate, record_of(launched)).summary;
    result.mean_model = summary.test_accuracy.mean_model;
    result.consensus = summary.consensus_distance.value_or(0);
    result.samples = static_cast<double>(summary.samples);
    for (const auto& accuracy : summary.test_accuracy.workers) {
      if (accuracy && evaluate) result.workers.push_back(*accuracy);
    }
    for (int rank = 0; rank < cell_.workers(); ++rank) {
      const WorkerHistory history = read_metrics(folder_.metrics(rank));
      if (history.progress.empty()) continue;
      const WorkerProgress& last = history.progress.back();
      result.training_seconds = std::max(result.training_seconds, last.training_seconds);
      if (last.training_seconds > 0) {
        result.steps_per_second = std::max(result.steps_per_second,
                                           static_cast<double>(last.step) / last.training_seconds);
      }
      if (history.end && history.end->counters.contains("bytes_sent")) {
        result.bytes += static_cast<double>(history.end->counters.at("bytes_sent"));
      }
    }
  }

  void draw_curve(CellResult& result) {
    Evaluator evaluator(cell_, split_);
    const std::size_t parameters =
        make_learner(cell_, split_.examples, 1)->adapter().values().size();
    for (int index = 0; index < kCurvePoints; ++index) {
      std::vector<Snapshot> snapshots;
      for (int rank = 0; rank < cell_.workers(); ++rank) {
        if (lost_.contains(rank)) continue;
        auto snapshot = read_snapshot(folder_.worker(rank) / "snapshots", index, parameters);
        if (snapshot) snapshots.push_back(std::move(*snapshot));
      }
      if (snapshots.size() + lost_.size() < static_cast<std::size_t>(cell_.workers())) continue;
      result.curve.push_back(point(evaluator, snapshots));
    }
  }

  static CurvePoint point(Evaluator& evaluator, const std::vector<Snapshot>& snapshots) {
    std::vector<std::span<const float>> models;
    CurvePoint when;
    for (const Snapshot& snapshot : snapshots) {
      models.emplace_back(snapshot.weights);
      when.samples += snapshot.samples;
      when.seconds = std::max(when.seconds, snapshot.seconds);
      when.bytes += snapshot.bytes;
    }
    CurvePoint point = evaluator.point(mean_of(models));
    point.samples = when.samples;
    point.seconds = when.seconds;
    point.bytes = when.bytes;
    return point;
  }

  const Cell& cell_;
  const Split& split_;
  const RealRunOptions& options_;
  const std::function<void(double)>& shown_;
  RunFolder folder_;
  std::vector<MetricsTail> tails_;
  std::string why_;
  std::set<int> lost_;  ///< ranks
};

}  // namespace

CellResult run_really(const Cell& cell, const Split& split, const RealRunOptions& options,
                      const std::function<void(double)>& shown) {
  return RealRun(cell, split, options, shown).execute();
}

}  // namespace fast::compare
