#include "fast/programs/report_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <ostream>

#include "fast/data/datasets.h"
#include "fast/errors.h"
#include "fast/programs/cli/options.h"
#include "fast/programs/launch/run_preparation.h"
#include "fast/programs/launch/signals.h"
#include "fast/programs/worker_questions.h"
#include "fast/report/live_table.h"
#include "fast/report/print_summary.h"
#include "fast/report/report.h"
#include "fast/run/run_folder.h"
#include "fast/run/run_records.h"
#include "fast/train/evaluation.h"

namespace fast {
namespace {

namespace fs = std::filesystem;

constexpr char kReportExamples[] = R"(Examples:
  fast report runs/first
  fast report node0/run node1/run node2/run node3/run --out together --data cifar10:/data/cifar10)";

}  // namespace

// config.toml is in the run folder, also where a worker's folder was given.
WorkerConfig find_config(const std::vector<fs::path>& dirs, const Models& models) {
  const RunRecords records = read_run(dirs);
  for (const fs::path& dir : dirs) {
    for (const fs::path& root : {dir, fs::absolute(dir).parent_path()}) {
      const fs::path file = RunFolder(root).config();
      if (!fs::exists(file)) continue;
      WorkerConfig config = read_config_file(file.string(), models).worker;
      if (architecture(config.model) == records.start().model)
        return config;  // else it is of another run
    }
  }
  WorkerConfig config = default_config(models).worker;
  const WorkerStart& start = records.start();
  config.model = start.model;
  config.data = start.data;
  config.epochs = start.epochs;
  config.session.topology = start.topology;
  config.session.exchange = start.exchange;
  return config;
}

namespace {

/// What a launcher recorded; for a killed worker there may be no other record.
LaunchRecord known_launch(const std::vector<fs::path>& dirs) {
  LaunchRecord out;
  for (const fs::path& dir : dirs) {
    const fs::path file = RunFolder(dir).summary();
    std::ifstream in(file, std::ios::binary);
    if (!in || !fs::is_regular_file(file)) continue;
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    Summary earlier;
    try {
      earlier = summary_from_json(text, file.string());
    } catch (const FileError&) {
      std::cerr << file.string() << " is damaged: exit codes are those that workers wrote\n";
      continue;
    }
    for (std::size_t rank = 0; rank < earlier.exit_codes.size(); ++rank) {
      if (const auto code = earlier.exit_codes[rank])
        out.exit_codes[static_cast<int>(rank)] = *code;
    }
    for (std::size_t rank = 0; rank < earlier.restarts.size(); ++rank) {
      out.restarts[static_cast<int>(rank)] = earlier.restarts[rank];
    }
  }
  return out;
}

}  // namespace

ExitCode report_run(const std::vector<fs::path>& dirs, const fs::path& folder,
                    const WorkerConfig& config, const Models& models, const LaunchRecord& launch,
                    std::ostream& out, const std::string& worker_program) {
  std::atomic<bool> stop = false;
  const StopOnSignal watch(stop);
  const EvaluateFn evaluate = [&](std::span<const NamedTensor> mean_model) -> MeanResult {
    if (config.model.empty()) {
      throw DataError("the model is a program's own", "load it there");
    }
    if (!models.can_make(config.model) || !models.datasets().has(config.data) ||
        !models.datasets().can_load(config.data)) {
      if (worker_program.empty()) {
        throw DataError("model " + config.model + " or data " + config.data +
                            " is known to another worker program alone",
                        "name it: fast report --worker-program FILE");
      }
      const TestResult result = evaluate_by(worker_program, config, mean_model, folder, stop);
      return MeanResult{result.accuracy, result.loss, result.chance, result.measure};
    }
    const Dataset data = models.datasets().load(config.data, config.session.seed);
    LearnerOptions options = learner_options(config, data.spec);
    // One thread: OpenMP's threads spin while they wait for each other. On a machine with other
    // work, a second thread was measured to make this several times slower.
    options.threads = 1;
    const std::unique_ptr<Learner> learner = models.make(options);
    const TestResult result =
        evaluate_model(mean_model, *learner, data, config.session.seed, &stop);
    return MeanResult{result.accuracy, result.loss, result.chance, result.measure};
  };
  TrainConfig all = default_config(models);
  const WorkerConfig usual = all.worker;
  all.worker = config;
  if (config.model.empty()) {  // a program's own, which has no such options
    all.worker.model = usual.model;
    all.worker.data = usual.data;
    all.worker.epochs = usual.epochs;
  }
  const Report report = write_report(dirs, folder, evaluate, launch,
                                     differing_options(all, OptionSet::kShared, models));
  const ScreenStyle style = screen_style();
  print_summary(out, report.summary, folder,
                {.unicode = style.unicode,
                 .colour = style.colour,
                 .width = style.is_terminal ? style.width : 0});
  out << std::flush;
  if (!report.summary.islands.empty()) {
    std::cerr << fmt::format(
        "the run fell apart: the models of workers {} never met, or no longer at the end\n",
        names_of(report.summary.islands));
  }
  for (const LeftOut& worker : report.summary.left_out) {
    std::cerr << fmt::format("worker {} is not in the mean model: {}\n", worker.rank, worker.why);
  }
  for (const int rank : report.summary.lost_ranks) {
    const bool told = std::ranges::any_of(report.summary.left_out,
                                          [rank](const LeftOut& one) { return one.rank == rank; });
    if (told) continue;
    std::cerr << fmt::format("worker {} has not ended: it was killed, or is still at work\n", rank);
  }
  if (!report.unwritten.empty()) {
    std::cerr << report.unwritten << '\n';
    return ExitCode::kFile;
  }
  if (stop) return ExitCode::kInterrupted;
  if (!report.summary.not_learnt.empty()) std::cerr << report.summary.not_learnt << '\n';
  if (!report.summary.whole()) return ExitCode::kWorkerLost;
  return report.summary.not_learnt.empty() ? ExitCode::kOk : ExitCode::kNotLearnt;
}

/// The default output folder. For a worker's folder it is the parent, since that folder holds only
/// the worker's own files.
fs::path default_output(const fs::path& dir) {
  const fs::path folder = fs::absolute(dir).lexically_normal();
  const fs::path plain = folder.has_filename() ? folder : folder.parent_path();
  return worker_rank(plain) ? plain.parent_path() : dir;
}

void bind_report_options(CLI::App& app, ReportQuery& query) {
  app.add_option("dirs", query.dirs, "run folders, or worker-K folders, of one run")
      ->type_name("DIR")
      ->required();
  app.add_option("--out,-o", query.out,
                 "where to write; by default the first DIR, or the folder that a worker-K is in")
      ->type_name("DIR");
  app.add_option("--data,-d", query.data, "data set, if it is elsewhere on this machine")
      ->type_name("SPEC");
  app.add_option("--model,-m", query.model, "model, if there is no config.toml")->type_name("NAME");
  app.add_option("--worker-program", query.worker_program,
                 "the worker program that evaluates a model or data which fast does not know")
      ->type_name("FILE");
}

int report_command(const std::vector<std::string>& args, const Models& models) {
  ReportQuery query;
  CLI::App app("Gathers worker folders into a mean model, a summary and a report page.",
               "fast report");
  set_conventions(app, kReportExamples);
  bind_report_options(app, query);
  if (const auto code = parse_arguments(app, args)) return *code;

  const std::vector<fs::path> dirs(query.dirs.begin(), query.dirs.end());
  for (const fs::path& dir : dirs) {
    if (!fs::is_directory(dir)) {
      throw FileError(fmt::format("{} is no folder", dir.string()), "name run or worker folders");
    }
  }
  WorkerConfig config = find_config(dirs, models);
  if (!query.data.empty()) config.data = query.data;
  if (!query.model.empty()) config.model = query.model;
  const bool here = query.worker_program.empty();
  if (here && !query.model.empty()) models.check(query.model);
  if (here && !query.data.empty()) {
    (void)models.datasets().load(query.data, config.session.seed);
  }
  return static_cast<int>(report_run(
      dirs, query.out.empty() ? default_output(dirs.front()) : fs::path(query.out), config, models,
      known_launch(dirs), std::cout, here ? "" : find_worker_program(query.worker_program)));
}

}  // namespace fast
