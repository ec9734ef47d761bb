#include "fast/programs/train_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <system_error>

#include "fast/data/datasets.h"
#include "fast/data/partition.h"
#include "fast/errors.h"
#include "fast/exit_codes.h"
#include "fast/options/peers.h"
#include "fast/programs/cli/config_file.h"
#include "fast/programs/cli/options.h"
#include "fast/programs/cli/validate_config.h"
#include "fast/programs/cores.h"
#include "fast/programs/launch/descriptors.h"
#include "fast/programs/launch/error_lines.h"
#include "fast/programs/launch/launcher.h"
#include "fast/programs/launch/loopback.h"
#include "fast/programs/launch/run_keys.h"
#include "fast/programs/launch/run_preparation.h"
#include "fast/programs/launch/signals.h"
#include "fast/programs/launch/train_monitor.h"
#include "fast/programs/report_command.h"
#include "fast/programs/worker_questions.h"
#include "fast/run/atomic_file.h"
#include "fast/run/run_folder.h"

namespace fast {
namespace {

constexpr char kTrainExamples[] =
    R"(Every option is also a key of the file (--config) and a variable of the environment
(FAST_LEARNING_RATE for --learning-rate); a flag wins over the file, the file over the environment.

Examples:
  Four workers on a 2x2 torus, on data that is generated:
    fast train --topology torus:2x2 --epochs 5 --out runs/first
  CIFAR-10, nine workers, half the bytes, exchanging twice per step:
    fast train --topology torus:3x3 --model resnet20 --data cifar10:DIR --codec fp16 --sweeps 2
  One worker four times slower, each with its own few classes:
    fast train --topology ring:4 --slow 1:4 --partition dirichlet:0.3
  Once more as it was:
    fast train --config runs/first/config.toml --out runs/second
  A worker that dies is started again, at most three times, and goes on from its checkpoint:
    fast train --topology torus:3x3 --restarts 3 --checkpoint-every 30
  On with a run that was cut off, from its checkpoints:
    fast train --resume runs/first)";

struct Wishes {
  TrainConfig config;
  std::string resume{};  ///< a run folder; empty: a new run
  bool overwrite = false;
  bool print_config = false;
};

/// In single quotes for a shell, on one line: with what is no character as $'\n'.
std::string shell_quoted(const std::string& text) {
  const auto control = [](unsigned char c) { return c < ' ' || c == 0x7f; };
  if (std::ranges::any_of(text, control)) {
    std::string out = "$'";
    for (const char c : text) {
      if (control(static_cast<unsigned char>(c))) {
        out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
      } else {
        out += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
      }
    }
    return out + "'";
  }
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::vector<std::string> worker_arguments(const RunFolder& folder, const std::string& run_id,
                                          const std::string& run_keys, int rank) {
  std::vector<std::string> out = {
      "--config",
      folder.config().string(),
      "--rank",
      std::to_string(rank),
      "--run-id",
      run_id,
      "--listen",
      loopback_endpoint(),
      "--peer-template",
      "file:" + literal_in_template(folder.root().string()) + "/worker-{rank}/endpoint"};
  if (!run_keys.empty()) out.insert(out.end(), {"--run-keys", run_keys});
  return out;
}

std::string command_line(const std::string& program, const std::vector<std::string>& arguments) {
  std::string out = program;
  for (const std::string& argument : arguments) {
    const bool plain = argument.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:") ==
                       std::string::npos;
    out += " " + (plain && !argument.empty() ? argument : shell_quoted(argument));
  }
  return out;
}

/// The launcher has read the FAST_ variables and passes them to the workers in the file, so they
/// are removed.
std::map<std::string, std::string> worker_environment(int threads) {
  std::map<std::string, std::string> out = thread_variables(threads);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.starts_with("FAST_")) out[std::string(text.substr(0, text.find('=')))] = "";
  }
  return out;
}

LaunchResult launch_workers(const TrainConfig& config, int workers, const RunFolder& folder,
                            const std::string& program, const std::string& run_id,
                            const std::string& run_keys, TrainMonitor& monitor) {
  LaunchOptions options;
  options.program = program;
  for (int rank = 0; rank < workers; ++rank) {
    options.arguments.push_back(worker_arguments(folder, run_id, run_keys, rank));
  }
  options.environment = worker_environment(config.worker.threads);
  options.restarts = config.restarts;
  options.stop_grace = config.worker.session.exchange.settle_deadline + 60;
  options.stuck_after = config.worker.session.exchange.gone_after + 60;
  LaunchObserver observer;
  observer.tick = [&](const std::vector<WorkerProcess>& processes) { monitor.tick(processes); };
  observer.say = [&](const std::string& line, bool bad) { monitor.say(line, bad); };
  ErrorLines errors(workers, [&](const std::string& line) { monitor.say(line, true); });
  observer.output = [&](int rank, std::string_view text) { errors.add(rank, text); };
  observer.how_to_restart = [&](int rank) {
    return command_line(program, options.arguments[static_cast<std::size_t>(rank)]);
  };
  return launch(options, observer);
}

/// Throws DataError where the data is damaged or too little for all workers. Of data that the
/// worker program alone can load, the workers say so.
void check_data(const WorkerConfig& config, const Datasets& datasets, int workers) {
  if (!datasets.can_load(config.data)) return;
  const Dataset data = datasets.load(config.data, config.session.seed);
  (void)partition(data.train->labels(), config.partition, workers, 0, config.session.seed);
}

std::string read_config(const RunFolder& folder) {
  std::ifstream in(folder.config(), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// What can be trained: what this program knows or, where a worker program is named and this one
/// does not know model or data, what that one says it knows.
Models known_kinds(const TrainConfig& config, const Models& models) {
  const bool asks = !config.worker_program.empty() &&
                    !(models.has(config.worker.model) && models.datasets().has(config.worker.data));
  return asks ? kinds_of(find_worker_program(config.worker_program)) : models;
}

std::optional<int> parse(const std::vector<std::string>& args, const Models& models,
                         Wishes& wishes) {
  CLI::App app(
      "Trains N workers on this machine, on a grid where each exchanges with its "
      "neighbours alone.",
      "fast train");
  set_conventions(app, kTrainExamples);
  app.add_option("--resume", wishes.resume,
                 "resume the run in this folder, with its config.toml, from the checkpoints of "
                 "its workers")
      ->type_name("DIR")
      ->configurable(false);
  app.add_flag("--overwrite", wishes.overwrite, "remove the run that --out holds already")
      ->configurable(false);
  add_print_config(app, wishes.print_config);
  bind_options(app, wishes.config, OptionSet::kTrain, models);
  return parse_arguments(app, args);
}

}  // namespace

int train_command(const std::vector<std::string>& args, const Models& own) {
  Wishes wishes{.config = default_config(own)};
  if (const auto code = parse(args, own, wishes)) return *code;
  const bool resumed = !wishes.resume.empty();
  std::string configured_run;
  if (resumed) {
    std::vector<std::string> with_file = args;
    const std::string file = RunFolder(wishes.resume).config().string();
    std::error_code error;
    std::ifstream in(file, std::ios::binary);
    if (!std::filesystem::is_regular_file(file, error) || !in) {
      throw FileError(
          fmt::format("--resume {}: no run is there (its config.toml is missing or no file)",
                      wishes.resume),
          "name the folder of a run");
    }
    configured_run = run_of_config(std::string(std::istreambuf_iterator<char>(in), {}));
    if (configured_run.empty()) {
      throw FileError(fmt::format("{} is not that of a run: its first line is missing", file),
                      "put it back from a copy, or start over with another --out");
    }
    with_file.insert(with_file.end(), {"--config", file, "--out", wishes.resume});
    wishes.config = default_config(own);
    if (const auto code = parse(with_file, own, wishes)) return *code;
  }
  TrainConfig& config = wishes.config;
  WorkerConfig& common = config.worker;
  if (wishes.print_config) {
    fmt::print("{}", to_toml(config, OptionSet::kTrain, own));
    return 0;
  }
  const Models models = known_kinds(config, own);
  const stencil::Topology topology = validate_config(config, models);
  const int workers = topology.size();
  for (SessionOptions each = common.session; ++each.rank < workers;) validate_keys(each, topology);
  const WritesMayFail writes;
  const std::size_t files = raise_descriptor_limit();
  check_descriptor_limit(workers, files);
  for (int rank = 0; rank < workers; ++rank) {
    check_worker_descriptors(topology.neighbours(rank).size(), files);
  }
  const std::string program = find_worker_program(config.worker_program);
  if (common.threads == 0) {
    common.threads = models.threads(common.model, available_cores() / workers);
  }
  // Checks all data before anything is written; the workers read it again.
  common.data = models.datasets().absolute(common.data);
  common.model = absolute_script(common.model);
  common.loss = absolute_script(common.loss);
  if (!common.init.empty()) common.init = std::filesystem::absolute(common.init).string();
  common.session.topology = absolute_topology(common.session.topology);
  common.out = std::filesystem::absolute(common.out).string();
  if (!common.session.keys.empty()) {
    common.session.keys = std::filesystem::absolute(common.session.keys).string();
  }
  check_data(common, models.datasets(), workers);

  const RunFolder folder(common.out);
  const LockedFolder lock(folder.root(), resumed            ? LockedFolder::Earlier::kResume
                                         : wishes.overwrite ? LockedFolder::Earlier::kRemove
                                                            : LockedFolder::Earlier::kRefuse);
  const std::string run_id = resumed ? run_id_to_resume(folder.root(), workers) : fresh_run_id();
  if (resumed && run_id != configured_run) {
    throw FileError(fmt::format("{} is of run {}, and the checkpoints beside it are of run {}",
                                folder.config().string(), configured_run, run_id),
                    "put the run's own there");
  }
  std::optional<RunKeys> keys;
  if (needs_run_keys(common.session, workers)) keys.emplace(folder.root(), workers, resumed);
  const std::string run_keys = keys ? keys->folder().string() : "";
  const std::string earlier = resumed ? read_config(folder) : "";
  write_atomically(
      folder.config(),
      run_config(run_id,
                 command_line(program, worker_arguments(folder, run_id, run_keys, 0)) + " --rank K",
                 to_toml(config, OptionSet::kShared, models)));

  SignalQueue held(false);  // those that come when the workers have ended end the report
  TrainMonitor monitor(folder, workers, common.quiet);
  monitor.say(
      fmt::format("{} on {}, {} of {}, {} each; run folder {}",
                  workers == 1 ? "1 worker, alone (--topology, as in torus:2x2, gives it others),"
                               : fmt::format("{} workers", workers),
                  common.session.topology, common.model, common.data,
                  common.threads == 1 ? "1 thread" : fmt::format("{} threads", common.threads),
                  folder.root().string()),
      false);
  if (!lock.locked()) {
    monitor.say("the file system of " + folder.root().string() +
                    " has no locks: nothing keeps another run out of this folder",
                true);
  }
  const LaunchResult result =
      launch_workers(config, workers, folder, program, run_id, run_keys, monitor);
  monitor.wait_for_returned(common.session.exchange.gone_after,
                            [&held] { return held.next() != 0; });
  monitor.finish();
  const int code = overall_code(result);
  if (!monitor.any_started()) {
    std::cerr << "fast train: no worker has started; there is nothing to report\n";
    // What was mistyped is not the run's from now on.
    if (resumed) write_atomically(folder.config(), earlier);
  } else {
    if (!common.quiet) std::cout << "making the mean model and evaluating it" << std::endl;
    const ExitCode reported = report_run({folder.root()}, folder.root(), common, models,
                                         record_of(result), std::cout, program);
    if (code == 0) return static_cast<int>(reported);
  }
  return code;
}

}  // namespace fast
