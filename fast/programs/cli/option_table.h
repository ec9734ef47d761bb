#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fast/data/partition.h"
#include "fast/errors.h"
#include "fast/options/rank.h"
#include "fast/options/session_option_fields.h"
#include "fast/programs/cli/evaluation_table.h"
#include "fast/programs/cli/options.h"
#include "fast/train/losses.h"
#include "fast/train/models.h"
#include "fast/train/parameter_patterns.h"
#include "fast/train/schedule.h"
#include "fast/train/worker_config.h"
#include "stencil/core/option_checks.h"
#include "stencil/core/text.h"
#include "stencil/core/topology.h"

namespace fast {

namespace option_table {

using stencil::kNotNegative;
using stencil::kPositive;
using stencil::OptionField;
using stencil::Range;

inline constexpr Range kAnyShare{.least = 0, .most = 1};

/// Returns a check that a text is one of `names`.
template <typename Names>
[[nodiscard]] std::function<void(const std::string&)> one_of(std::string_view kind, Names names) {
  return [kind, names](const std::string& text) { stencil::check_choice(kind, text, names); };
}

template <typename Visitor>
void visit_place(TrainConfig& config, OptionSet set, Visitor& visit) {
  SessionOptions& s = config.worker.session;
  visit.group("Where it stands");
  visit(session_fields::topology(), s.topology);
  visit(
      OptionField<int>{
          .key = "workers",
          .unit = "N",
          .help = "how many workers; 0: as many as the topology has, and nothing else is accepted",
          .range = {.least = 0, .most = stencil::Topology::kMaxSize},
          .remedy = "leave it out, or give the topology's number of workers",
          .example = 4},
      config.workers);
  if (set == OptionSet::kWorker) {
    auto rank = session_fields::rank();
    rank.range.least = -1;
    rank.help += "; -1: that of the launcher (" + rank_variables() +
                 "), or of the host's name (worker-3, with peers of such names)";
    visit(rank, s.rank);
    session_fields::visit_addresses(s, visit);
  }
  session_fields::visit_keys(s, visit);
  if (set == OptionSet::kWorker) session_fields::visit_single_keys(s, visit);
  session_fields::visit_insecure(s, visit);
  visit(OptionField<std::string>{.key = "out",
                                 .unit = "DIR",
                                 .help = "run folder",
                                 .check =
                                     [](const std::string& folder) {
                                       if (!folder.empty()) return;
                                       throw ConfigError("--out is empty", "name a folder");
                                     },
                                 .example = "runs/first",
                                 .also = "-o"},
        config.worker.out);
}

/// Of every launcher.
[[nodiscard]] inline OptionField<int> restarts_field() {
  return {.key = "restarts",
          .unit = "N",
          .help =
              "start again a worker that died, at most N times each; not one that ended by a "
              "mistake in its options, data or numbers, or twice in the same words",
          .range = {.least = 0, .most = 1'000'000},
          .remedy = "use 0 (never) to 1000000",
          .example = 3};
}

template <typename Visitor>
void visit_keeping(TrainConfig& config, OptionSet set, Visitor& visit) {
  WorkerConfig& w = config.worker;
  visit(session_fields::checkpoint_every(), w.checkpoint_every);
  visit(session_fields::keep_checkpoints(), w.session.keep_checkpoints);
  session_fields::visit_recording(w.session, visit);
  visit(
      OptionField<std::string>{
          .key = "pause_file",
          .unit = "FILE",
          .help = "pause while FILE exists: save, tell the neighbours, who wait for nothing, and "
                  "leave the machine alone; then go on. {rank} stands for the rank. SIGUSR2 to "
                  "fast-worker pauses, too, and the next one ends it",
          .example = "/run/fast-pause"},
      w.pause_file);
  visit(
      OptionField<std::string>{
          .key = "pause_when",
          .unit = "COMMAND",
          .help = "the same while COMMAND, which a shell runs every 60 s, ends with exit code 0 "
                  "within 10 s",
          .example = "grep -q 0 /sys/class/power_supply/AC/online"},
      w.pause_when);
  if (set == OptionSet::kTrain) visit(restarts_field(), config.restarts);
  if (set != OptionSet::kWorker) return;
  visit(
      OptionField<bool>{
          .key = "fresh", .help = "begin anew even where there is a checkpoint", .example = true},
      w.fresh);
}

template <typename Visitor>
void visit_training(TrainConfig& config, const Models& models, Visitor& visit) {
  WorkerConfig& w = config.worker;
  OptimizerOptions& o = w.optimizer;
  visit.group("What it trains");
  visit(
      OptionField<std::string>{.key = "model",
                               .unit = "NAME",
                               .help = stencil::listed(models.names()),
                               .check = [&models](const std::string& name) { models.check(name); },
                               .example = std::string(models.names().back()),
                               .choices = {models.names().begin(), models.names().end()},
                               .also = "-m"},
      w.model);
  visit(
      OptionField<std::string>{
          .key = "data",
          .unit = "SPEC",
          .help = models.datasets().forms(),
          .check = [&models](const std::string& spec) { models.datasets().check(spec); },
          .example = "synthetic:100,20",
          .choices = models.datasets().choices(),
          .also = "-d"},
      w.data);
  visit(OptionField<std::string>{.key = "loss",
                                 .unit = "NAME",
                                 .help = "what the model is trained by: cross_entropy (of labels), "
                                         "mse or l1 (of numbers), bce (logits of 0 and 1), or "
                                         "script:FILE, a TorchScript module of (output, target)",
                                 .check = [](const std::string& name) { check_loss(name); },
                                 .example = "mse",
                                 .choices = {"cross_entropy", "mse", "l1", "bce", "script:"}},
        w.loss);
  visit(OptionField<std::string>{.key = "partition",
                                 .unit = "NAME",
                                 .help = "how workers share the examples: iid, dirichlet:ALPHA, "
                                         "by-label or own (each trains on all of its own data)",
                                 .check =
                                     [](const std::string& name) {
                                       (void)partition(std::vector<std::uint32_t>(16, 0), name, 2,
                                                       0, 1);
                                     },
                                 .example = "by-label",
                                 .choices = {"iid", "dirichlet:", "by-label", "own"}},
        w.partition);
  visit(
      OptionField<std::string>{
          .key = "weighting",
          .unit = "WHAT",
          .help = "what counts alike where shards differ in size: workers, "
                  "or data: a worker's learning rate is multiplied by its "
                  "examples over the mean of all workers",
          .check = one_of("weighting", std::array<std::string_view, 2>{"workers", "data"}),
          .example = "data",
          .before = "workers",
          .choices = {"workers", "data"}},
      w.weighting);
  visit(OptionField<std::string>{.key = "init",
                                 .unit = "FILE",
                                 .help = "begin with a saved model, mean.safetensors of an earlier "
                                         "run, instead of weights drawn from the seed",
                                 .example = "mean.safetensors"},
        w.init);
  visit(
      OptionField<bool>{.key = "init_partial",
                        .help = "take of --init what fits by name and shape, and say what does not",
                        .example = true},
      w.init_partial);
  visit(
      OptionField<std::string>{
          .key = "freeze",
          .unit = "PATTERN,..",
          .help = "leave parameters of such names as they begin (LibTorch's models; repeatable)",
          .check = [](const std::string& list) { (void)patterns_in(list, "--freeze"); },
          .example = "tokens.*,positions.*"},
      w.freeze);
  visit(
      OptionField<std::string>{
          .key = "rate_of",
          .unit = "PATTERN=FACTOR,..",
          .help = "learning rate of parameters of such names, times FACTOR; the first that fits "
                  "counts (LibTorch's models; repeatable)",
          .check = [](const std::string& list) { (void)rates_in(list); },
          .example = "fc.*=0.1"},
      w.rate_of);
  visit(OptionField<double>{.key = "epochs",
                            .unit = "EPOCHS",
                            .help = "passes over the training set, by all workers together",
                            .range = kPositive,
                            .remedy = "use more than 0",
                            .example = 2.5,
                            .also = "-e"},
        w.epochs);
  visit(OptionField<int>{.key = "batch",
                         .unit = "EXAMPLES",
                         .help = "examples per step and worker",
                         .range = {.least = 1, .most = 1 << 20},
                         .remedy = "use 1 to 1048576 examples",
                         .example = 8,
                         .also = "-b"},
        w.batch);
  visit(OptionField<std::string>{.key = "optimizer",
                                 .unit = "NAME",
                                 .help = "sgd (with momentum) or adamw",
                                 .check = one_of("optimizer",
                                                 std::array<std::string_view, 2>{"sgd", "adamw"}),
                                 .example = "adamw",
                                 .choices = {"sgd", "adamw"}},
        o.name);
  visit(OptionField<double>{.key = "learning_rate",
                            .unit = "RATE",
                            .help = "highest rate; not scaled by the number of workers",
                            .range = kPositive,
                            .remedy = "use more than 0, e.g. 0.1",
                            .example = 0.4,
                            .also = "--lr"},
        o.learning_rate);
  visit(OptionField<double>{.key = "momentum",
                            .unit = "SHARE",
                            .help = "momentum of sgd; 0 <= SHARE < 1",
                            .range = {.least = 0, .most = 1, .below = true},
                            .remedy = "use 0 to below 1",
                            .example = 0.5},
        o.momentum);
  visit(
      OptionField<bool>{
          .key = "nesterov",
          .help = "sgd's momentum looks ahead, which tolerates that workers are out of step",
          .example = false},
      o.nesterov);
  visit(OptionField<double>{.key = "momentum_correction",
                            .unit = "SHARE",
                            .help = "share of the exchange's moves of the model that enters sgd's "
                                    "momentum, 0 to 1; less where averages are rare",
                            .range = kAnyShare,
                            .remedy = "use 0 to 1",
                            .example = 0.25},
        o.momentum_correction);
  visit(OptionField<double>{.key = "weight_decay",
                            .unit = "RATE",
                            .help = "pull towards zero",
                            .range = kNotNegative,
                            .remedy = "use 0 or more, e.g. 5e-4",
                            .example = 1e-3},
        o.weight_decay);
  visit(
      OptionField<std::string>{
          .key = "schedule",
          .unit = "NAME",
          .help = "learning rate over the run: constant, cosine or step:FACTOR@P1,P2,... (P: "
                  "share of the run)",
          .check = [](const std::string& spec) { (void)Schedule::parse(spec, 1, 0); },
          .example = "constant",
          .choices = {"constant", "cosine", "step:"}},
      w.schedule);
  visit(OptionField<double>{.key = "warmup",
                            .unit = "SHARE",
                            .help = "share of the run over which the rate rises from 0",
                            .range = {.least = 0, .most = 1, .below = true},
                            .remedy = "use a share of the run, 0 to below 1",
                            .example = 0.05},
        w.warmup);
  visit(session_fields::seed(), w.session.seed);
  visit(OptionField<int>{.key = "threads",
                         .unit = "THREADS",
                         .help = "compute threads per worker; 0: the cores shared out for models "
                                 "that gain by it (resnet18), 1 for others",
                         .range = {.least = 0, .most = 4096},
                         .remedy = "use 1 to 4096, or 0 to share out the cores",
                         .example = 2},
        w.threads);
  visit(
      OptionField<std::string>{
          .key = "buffers",
          .unit = "HOW",
          .help = "BatchNorm statistics, which each worker estimates on its own shard after "
                  "training; mix: average them over all workers; local: keep them",
          .check = one_of("buffers", std::array<std::string_view, 2>{"mix", "local"}),
          .example = "local",
          .choices = {"mix", "local"}},
      w.buffers);
  visit_evaluation(w.evaluation, visit);
  visit(OptionField<bool>{.key = "augment",
                          .help = "random crops and mirror images, where customary",
                          .example = false},
        w.augment);
}

template <typename Visitor>
void visit_display(TrainConfig& config, OptionSet set, Visitor& visit) {
  WorkerConfig& w = config.worker;
  visit.group("What it shows");
  visit(OptionField<std::string>{.key = "log_level",
                                 .unit = "LEVEL",
                                 .help = "debug, info, warning or error",
                                 .check = one_of("log level",
                                                 std::array<std::string_view, 4>{
                                                     "debug", "info", "warning", "error"}),
                                 .example = "debug",
                                 .choices = {"debug", "info", "warning", "error"}},
        w.log_level);
  visit(
      OptionField<std::string>{
          .key = "log_style",
          .unit = "STYLE",
          .help = "lines on stderr: plain, journal (as systemd's journal takes levels, <4>..) or "
                  "auto, which tells by itself",
          .check = one_of("log style", std::array<std::string_view, 3>{"auto", "plain", "journal"}),
          .example = "journal",
          .choices = {"auto", "plain", "journal"}},
      w.log_style);
  visit(OptionField<bool>{.key = "quiet",
                          .help = "no progress, only warnings and the result",
                          .example = true,
                          .also = "-q"},
        w.quiet);
  visit(OptionField<double>{.key = "report_every",
                            .unit = "SECONDS",
                            .help = "time between two lines of metrics.jsonl",
                            .range = {.least = 0, .most = 1e7, .above = true},
                            .remedy = "use more than 0 seconds, up to 10 million",
                            .example = 5},
        w.report_every);

  visit.group("For experiments");
  visit(OptionField<std::map<int, double>>{.key = "slow",
                                           .unit = "RANK:FACTOR",
                                           .help = "stretch this worker's steps (repeatable)",
                                           .example = {{1, 4}}},
        config.slow);
  visit(OptionField<double>{.key = "jitter",
                            .unit = "SHARE",
                            .help = "stretch each step by up to this share, at random",
                            .range = {.least = 0, .most = 1000},
                            .remedy = "use a share from 0, e.g. 0.5",
                            .example = 0.5},
        w.jitter);
  if (set != OptionSet::kTrain) return;
  visit(OptionField<std::string>{.key = "worker_program",
                                 .unit = "FILE",
                                 .help =
                                     "the fast-worker to start; empty: the one beside this program",
                                 .example = "/usr/bin/fast-worker"},
        config.worker_program);
}

}  // namespace option_table

/// The only list of the programs' options. Calls visit(field, value) for each option of `set` in
/// the order of the help, and visit.group(title) before each group.
template <typename Visitor>
void visit_options(TrainConfig& config, OptionSet set, const Models& models, Visitor& visit) {
  option_table::visit_place(config, set, visit);
  option_table::visit_keeping(config, set, visit);
  option_table::visit_training(config, models, visit);
  visit.group("How it exchanges");
  visit_fields(config.worker.session.exchange, visit);
  option_table::visit_display(config, set, visit);
}

}  // namespace fast
