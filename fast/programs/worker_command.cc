#include "fast/programs/worker_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <iostream>
#include <memory>
#include <utility>

#include "fast/data/datasets.h"
#include "fast/data/partition.h"
#include "fast/exit_codes.h"
#include "fast/options/environment.h"
#include "fast/options/peers.h"
#include "fast/options/rank.h"
#include "fast/options/security.h"
#include "fast/programs/cli/options.h"
#include "fast/programs/cli/validate_config.h"
#include "fast/programs/cores.h"
#include "fast/programs/launch/descriptors.h"
#include "fast/programs/launch/pause_watch.h"
#include "fast/programs/launch/run_keys.h"
#include "fast/programs/launch/signals.h"
#include "fast/programs/launch/threads.h"
#include "fast/programs/service_manager.h"
#include "fast/programs/watched_learner.h"
#include "fast/programs/worker_questions.h"
#include "fast/train/initial_model.h"
#include "fast/train/log_style.h"
#include "fast/train/memory_watch.h"
#include "fast/train/worker.h"

namespace fast {
namespace {

constexpr char kWorkerExamples[] =
    R"(Every option is also a key of the file (--config) and a variable of the environment
(FAST_LEARNING_RATE for --learning-rate); a flag wins over the file, the file over the environment.

Examples:
  One of four, started on each machine of a cluster, in any order:
    fast-worker --topology torus:2x2 --rank 0 --listen *:5555 --run-id first --keys keys \
      --peer 1=node1:5555 --peer 2=node2:5555 --data cifar10:/data/cifar10
  The same everywhere; the rank comes from the launcher, which must not end all when one dies:
    srun --no-kill --kill-on-bad-exit=0 fast-worker --topology torus:4x4 --run-id first \
      --insecure --listen '*:5555' --peer-template 'node{rank}:5555' --out runs/first
    mpirun --enable-recovery -np 16 fast-worker --topology torus:4x4 --run-id first \
      --insecure --listen '*:5555' --peer-template 'node{rank}:5555' --out runs/first
  With what it saw and decided last, written at its end and on SIGUSR1, which saves a checkpoint, too:
    fast-worker --topology ring:1 --rank 0 --record worker-{rank}.journal
    fast replay worker-0.journal
  On somebody's own machine, which it leaves alone on battery, when hot, and on a metered link:
    fast-worker --config job.toml --rank 3 --pause-file /tmp/pause \
      --pause-when 'grep -q 0 /sys/class/power_supply/AC/online'
    fast-worker --config job.toml --rank 3 \
      --pause-when 'test $(cat /sys/class/thermal/thermal_zone0/temp) -gt 80000'
    fast-worker --config job.toml --rank 3 --pause-when \
      'nmcli -t -f GENERAL.METERED device show | grep -q :yes'
  Afterwards, with all worker folders in one place:
    fast report runs/first)";

/// Fills in the options that depend on the machine.
void complete(TrainConfig& config, int workers) {
  WorkerConfig& w = config.worker;
  int& rank = w.session.rank;
  if (rank == -1) {
    const std::string host = host_name();
    auto found = find_rank(read_environment, host, w.session, workers, stencil::as_flag);
    if (!found) throw no_rank(host, stencil::as_flag);
    rank = found->rank;
    w.rank_source = std::move(found->source);
  }
  if (const auto it = config.slow.find(rank); it != config.slow.end()) w.slow = it->second;
}

/// Threads of a worker beside the main one and that which waits for signals.
int threads_of(const WorkerConfig& config) {
  const SessionOptions& session = config.session;
  // The session's own, ZeroMQ's two, and a checkpoint's; those that read keys and addresses again.
  int needed = 4;
  if (key_files(session)) ++needed;
  if (!session.peers_file.empty() || !session.peers.empty()) ++needed;
  if (!config.pause_file.empty() || !config.pause_when.empty()) ++needed;
  needed += session.exchange.mix_threads - 1;
  // LibTorch has two pools of so many, which count the thread that uses them.
  return needed + 2 * (config.threads - 1);
}

/// With the images of its shard alone.
Dataset load_for(const WorkerConfig& config, const Datasets& datasets, int workers) {
  const SessionOptions& session = config.session;
  return datasets.load(config.data, session.seed, [&](std::span<const std::uint32_t> labels) {
    return partition(labels, config.partition, workers, session.rank, session.seed);
  });
}

}  // namespace

int worker_command(const std::vector<std::string>& args, const Models& models) {
  TrainConfig config = default_config(models);
  CLI::App app("Trains one worker of a grid, exchanging parameters with its neighbours alone.",
               "fast-worker");
  set_conventions(app, kWorkerExamples);
  bool print_config = false;
  add_print_config(app, print_config);
  bool described = false;
  std::string evaluated;
  app.add_flag("--describe", described)->configurable(false)->group("");
  app.add_option("--evaluate", evaluated)->configurable(false)->group("");
  bind_options(app, config, OptionSet::kWorker, models);
  if (const auto code = parse_arguments(app, args)) return *code;
  if (print_config) {
    fmt::print("{}", to_toml(config, OptionSet::kWorker, models));
    return 0;
  }

  if (described) {
    describe(models, std::cout);
    return 0;
  }
  if (!evaluated.empty()) {
    evaluate_file(evaluated, config.worker, models, std::cout);
    return 0;
  }

  const LogStyle style = log_style(config.worker.log_style, read_environment, STDERR_FILENO);
  config.worker.log_style = style == LogStyle::kJournal ? "journal" : "plain";
  int& threads = config.worker.threads;
  if (threads == 0) threads = models.threads(config.worker.model, available_cores());
  keep_threads_from_spinning(threads);
  const WritesMayFail writes;
  const std::size_t files = raise_descriptor_limit();
  std::atomic<bool> stop = false, record_now = false, save_now = false;
  PauseWatch pause(log_to_stderr);
  config.worker.session.record_now = &record_now;
  config.worker.session.save_now = &save_now;
  // Before any other thread starts, so that all threads block these signals.
  StopOnSignal watch(
      stop, false, [&] { record_now = save_now = true; }, [&pause] { pause.toggle(); });
  const stencil::Topology topology = validate_config(config, models);
  complete(config, topology.size());
  validate_place(config.worker.session, topology);
  check_run_keys(config.worker.session, topology.size(), config.worker.out);
  check_worker_descriptors(topology.neighbours(config.worker.session.rank).size(), files);
  check_threads(fmt::format("a worker with --threads {}", config.worker.threads),
                threads_of(config.worker));
  if (const std::string why = why_no_pause(config.worker); !why.empty()) pause.refuse(why);
  pause.watch({.file = for_rank(config.worker.pause_file, config.worker.session.rank),
               .command = config.worker.pause_when});
  config.worker.memory_before = own_memory().own();
  const Dataset data = load_for(config.worker, models.datasets(), topology.size());
  const std::unique_ptr<Learner> learner = models.make(learner_options(config.worker, data.spec));
  if (config.worker.init_partial) {
    config.worker.begun = begin_partly_from(config.worker.init, learner->adapter());
  } else if (!config.worker.init.empty()) {
    begin_from(config.worker.init, learner->adapter());
  }
  config.worker.advice = models.advice(config.worker.model);
  ServiceManager manager(read_environment);
  WatchedLearner watched(*learner, manager);
  config.worker.session.waiting = [&manager] { manager.alive(); };
  config.worker.tell = [&manager](const std::string& line) { manager.status(line); };
  config.worker.tell("looks for its neighbours");
  watch.heed();
  const WorkerOutcome outcome = Worker(config.worker, data, watched).run(stop, &pause);
  // Without --quiet its log has just said so, on stderr too.
  if (outcome.code != ExitCode::kOk && config.worker.quiet) {
    std::cerr << styled(style, LogLevel::kError,
                        fmt::format("fast-worker: rank {}: {}", config.worker.session.rank,
                                    outcome.text))
              << '\n';
  }
  return static_cast<int>(outcome.code);
}

}  // namespace fast
