#include "fast/programs/cli/validate_config.h"

#include <fmt/format.h>

#include "fast/errors.h"
#include "fast/options/addresses.h"
#include "fast/options/peers.h"
#include "fast/options/security.h"
#include "fast/programs/cli/field_checks.h"
#include "fast/programs/cli/option_table.h"

namespace fast {
namespace {

/// A worker of mode sync that dies takes its place in the rounds along.
void check_restarts(const TrainConfig& config) {
  if (config.restarts == 0 || config.worker.session.exchange.mode != "sync") return;
  throw ConfigError(
      "--restarts with --mode sync: a worker that is started again is rounds behind, and its "
      "neighbours cannot go back",
      "use --mode async or bounded:K, or leave --restarts out and go on with --resume");
}

void check_slow(const TrainConfig& config, const stencil::Topology& topology) {
  for (const auto& [rank, factor] : config.slow) {
    if (rank >= topology.size()) {
      throw ConfigError(
          fmt::format("--slow {}:{}: no such rank on {}", rank, factor, topology.spec()),
          fmt::format("ranks are 0 to {}", topology.size() - 1));
    }
    if (!(factor >= 1 && factor <= 1e6)) {
      throw ConfigError(fmt::format("--slow {} is out of range", factor),
                        "use a factor of 1 to 1e6");
    }
  }
}

void check_evaluation(const WorkerConfig& worker) {
  const EvaluationOptions& e = worker.evaluation;
  const std::string needs = !e.stop_when.empty() ? "--stop-when " + e.stop_when
                            : e.keep_best        ? "--keep-best"
                            : e.examples > 0     ? fmt::format("--evaluate-examples {}", e.examples)
                                                 : "";
  if (!needs.empty() && !e.on()) {
    throw ConfigError(needs + " without --evaluate-every: nothing is evaluated before the end",
                      "use --evaluate-every 0.1, say, with it");
  }
  if (!e.stop_when.empty() && worker.session.exchange.mode == "sync") {
    throw ConfigError("--stop-when " + e.stop_when +
                          " with --mode sync: workers in lock step end at one step, which is known "
                          "from the start",
                      "use --mode async or bounded:K, or leave --stop-when out");
  }
}

void check_pause(const WorkerConfig& worker) {
  if (worker.pause_file.empty() && worker.pause_when.empty()) return;
  const std::string why = why_no_pause(worker);
  if (why.empty()) return;
  throw ConfigError(
      (worker.pause_file.empty() ? "--pause-when " + worker.pause_when
                                 : "--pause-file " + worker.pause_file) +
          ": " + why,
      "use --mode async or bounded:K and --checkpoint-every above 0, or leave it out");
}

}  // namespace

std::string why_no_pause(const WorkerConfig& worker) {
  if (worker.session.exchange.mode == "sync") return "--mode sync needs all workers at each step";
  if (worker.checkpoint_every <= 0) {
    return "a worker that comes back goes on from its checkpoint, and --checkpoint-every 0 writes "
           "none";
  }
  return "";
}

stencil::Topology validate_config(const TrainConfig& config, const Models& models) {
  TrainConfig copy = config;
  FieldChecks checks;
  visit_options(copy, OptionSet::kTrain, models, checks);
  const WorkerConfig& w = config.worker;
  w.session.exchange.validate(stencil::as_flag);
  check_security(w.session, stencil::as_flag);
  (void)Schedule::parse(w.schedule, w.optimizer.learning_rate, w.warmup);
  stencil::Topology topology = stencil::Topology::parse(w.session.topology);
  if (config.workers != 0 && config.workers != topology.size()) {
    throw ConfigError(fmt::format("--workers {} contradicts --topology {}, which has {}",
                                  config.workers, topology.spec(), topology.size()),
                      fmt::format("leave --workers out, or give --workers {}", topology.size()));
  }
  if (w.init_partial && w.init.empty()) {
    throw ConfigError("--init-partial is without --init", "name the model with --init FILE");
  }
  check_slow(config, topology);
  check_restarts(config);
  check_pause(w);
  check_evaluation(w);
  return topology;
}

void validate_place(const SessionOptions& session, const stencil::Topology& topology) {
  const int last = topology.size() - 1;
  if (session.rank < 0 || session.rank > last) {
    throw ConfigError(fmt::format("rank {} is outside {}", session.rank, session.topology),
                      fmt::format("its ranks are 0 to {}", last));
  }
  check_peer_template(session.peer_template);
  if (session.listen.empty() && session.peers.empty() && session.peers_file.empty() &&
      session.peer_template.empty() && last > 0) {
    throw ConfigError("a worker that neither listens nor knows a peer can reach nobody",
                      "give --listen, --peer, --peers or --peer-template");
  }
  for (const auto& [rank, endpoint] : session.peers) {
    if (rank > last || !topology.are_neighbours(session.rank, rank)) {
      throw ConfigError(fmt::format("--peer {}={}: rank {} is no neighbour of rank {} on {}", rank,
                                    endpoint, rank, session.rank, session.topology),
                        fmt::format("'fast topology {}' shows who is", session.topology));
    }
  }
  check_addresses(session);
  validate_keys(session, topology);
}

void validate_keys(const SessionOptions& session, const stencil::Topology& topology) {
  if (const auto files = key_files(session)) {
    (void)read_keys(*files, session.rank, topology.neighbours(session.rank));
  }
}

}  // namespace fast
