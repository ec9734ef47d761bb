#include "bench/compare/real/member.h"

#include <fmt/format.h>

#include <atomic>
#include <fstream>
#include <iterator>

#include "bench/compare/real/parameter_server.h"
#include "bench/compare/real/participant.h"
#include "bench/compare/real/snapshots.h"
#include "fast/exit_codes.h"
#include "fast/programs/launch/signals.h"
#include "fast/run/run_folder.h"
#include "fast/session/session.h"
#include "fast/train/worker.h"

namespace fast::compare {
namespace {

Cell read_cell(const std::filesystem::path& run) {
  std::ifstream in(run / "cell.json", std::ios::binary);
  return cell_from_json({std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()});
}

WorkerConfig worker_config(const Cell& cell, const MemberOptions& options) {
  WorkerConfig w;
  SessionOptions& session = w.session;
  session.topology = cell.strategy.name == "single" ? "ring:1" : cell.condition.topology;
  session.rank = options.rank;
  session.run_id = options.run_id;
  session.listen = options.host + ":0";
  session.insecure = true;  // in a network of the comparison's own
  session.peer_template = "file:" + (options.run / "worker-{rank}" / "endpoint").string();
  session.seed = cell.seed;
  session.exchange = cell.strategy.exchange;
  session.exchange.wait_deadline = options.deadline;
  if (cell.strategy.mode().empty()) session.exchange.mode = cell.strategy.name;
  w.out = options.run.string();
  w.model = cell.job.model;
  w.data = cell.job.data;
  w.partition = cell.condition.partition;
  w.epochs = cell.job.epochs;
  w.batch = cell.job.batch;
  w.optimizer = {.name = cell.job.optimizer,
                 .learning_rate = cell.strategy.learning_rate,
                 .momentum = cell.job.momentum,
                 .nesterov = cell.job.nesterov,
                 .weight_decay = cell.job.weight_decay};
  w.schedule = cell.job.schedule;
  w.warmup = cell.job.warmup;
  w.threads = options.threads;
  w.buffers = cell.strategy.buffers;
  w.quiet = true;
  w.checkpoint_every = 0;  // what is measured is the exchange
  w.fresh = true;
  if (cell.time == TimeKind::kStandIn) return w;  // which has its own step times
  const auto slow = cell.condition.slow.find(options.rank);
  if (slow != cell.condition.slow.end()) w.slow = slow->second;
  w.jitter = cell.condition.jitter;
  return w;
}

}  // namespace

int run_member(const MemberOptions& options) {
  std::atomic<bool> stop = false;
  const StopOnSignal watch(stop);
  const Cell cell = read_cell(options.run);
  const Split split = load_split(cell, options.places);
  const Place place{.rank = options.rank,
                    .workers = cell.workers(),
                    .budget = cell.budget(split.training.train->size()),
                    .host = options.host,
                    .meeting = options.run,
                    .deadline = options.deadline};
  auto learner = make_learner(cell, split.examples, options.threads, options.rank);
  if (options.rank == place.workers) {
    serve_parameters(cell, place, *learner);
    return 0;
  }
  Participant participant = make_participant(cell, place, std::move(learner));
  const MakeExchange inner = participant.make_exchange;
  const MakeExchange make = [&](ModelAdapter& adapter,
                                SessionOptions session) -> std::unique_ptr<Exchange> {
    std::unique_ptr<Exchange> exchange;
    if (inner) {
      exchange = inner(adapter, std::move(session));
    } else {
      exchange = std::make_unique<Session>(adapter, std::move(session));
    }
    if (cell.time == TimeKind::kStandIn) return exchange;
    return std::make_unique<SnapshotExchange>(
        adapter, std::move(exchange), RunFolder(options.run).worker(options.rank) / "snapshots");
  };
  const WorkerConfig config = worker_config(cell, options);
  const WorkerOutcome outcome =
      Worker(config, split.training, *participant.learner, make).run(stop);
  if (outcome.code != ExitCode::kOk) {
    fmt::print(stderr, "fast-compare: rank {}: {}\n", options.rank, outcome.text);
  }
  // In a comparison, to have learnt nothing is a result like others.
  if (outcome.code == ExitCode::kNotLearnt) return 0;
  return static_cast<int>(outcome.code);
}

}  // namespace fast::compare
