#include "fast/programs/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <string>
#include <vector>

#include "fast/data/dataset.h"
#include "fast/data/partition.h"
#include "fast/errors.h"
#include "fast/programs/demand.h"
#include "fast/programs/learner_factory.h"
#include "fast/programs/options.h"
#include "fast/schedule.h"
#include "stencil/codec/codec.h"
#include "stencil/engine/config.h"

namespace fast {
namespace {

void demand_name(const char* option, const std::string& value,
                 const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (value == name) return;
  }
  throw ConfigError(fmt::format("--{} {}: no such name{}", option, value, suggestion(value, names)),
                    fmt::format("use one of {}", fmt::join(names, ", ")));
}

void check_training(const WorkerConfig& w) {
  demand(w.epochs > 0 && std::isfinite(w.epochs), "epochs", w.epochs, "use more than 0");
  demand(w.batch > 0 && w.batch <= (1 << 20), "batch", w.batch, "use 1 to 1048576 examples");
  const OptimizerOptions& o = w.optimizer;
  demand_name("optimizer", o.name, {"sgd", "adamw"});
  demand(o.learning_rate > 0 && std::isfinite(o.learning_rate), "learning-rate", o.learning_rate,
         "use more than 0, e.g. 0.1");
  demand(o.momentum_correction >= 0 && o.momentum_correction <= 1, "momentum-correction",
         o.momentum_correction, "use 0 to 1");
  demand(o.momentum >= 0 && o.momentum < 1, "momentum", o.momentum, "use 0 to below 1");
  demand(o.weight_decay >= 0 && std::isfinite(o.weight_decay), "weight-decay", o.weight_decay,
         "use 0 or more, e.g. 5e-4");
  demand(w.warmup >= 0 && w.warmup <= 1, "warmup", w.warmup, "use a share of the run, 0 to 1");
  demand(w.threads >= 0 && w.threads <= 4096, "threads", w.threads,
         "use 1 to 4096, or 0 to share out the cores");
  demand_name("buffers", w.buffers, {"local", "mix"});
  demand_name("model", w.model, model_names());
  (void)Schedule::parse(w.schedule, o.learning_rate, w.warmup);
  (void)partition(std::vector<std::uint8_t>(16, 0), w.partition, 2, 0, w.seed);
}

void check_exchange(const WorkerConfig& w) {
  stencil::check_codec(stencil::parse_codec(w.codec), stencil::Mode::parse(w.mode));
  demand_name("transport", w.transport, {"auto", "tcp"});
  const double sweeps = w.sweeps.value_or(1);
  demand(sweeps >= 0 && sweeps <= 1000, "sweeps", sweeps,
         "use 0 (train alone) to 1000 sweeps per step, or auto");
  demand(w.phase_lock >= 0 && w.phase_lock <= 1, "phase-lock", w.phase_lock,
         "use a share of a step, 0 to 1");
  demand(w.linger >= 0 && w.linger <= 1, "linger", w.linger, "use a share of a step, 0 to 1");
  demand(w.mix_threads >= 1 && w.mix_threads <= 64, "mix-threads", w.mix_threads, "use 1 to 64");
  demand(w.bucket_kib >= 0 && w.bucket_kib <= (1 << 16), "bucket-kib", w.bucket_kib,
         "use 1 to 65536 KiB, or 0 for what suits the model");
  demand(w.window >= 1 && w.window <= 1024, "window", w.window, "use 1 to 1024 buckets");
  const auto seconds = [](const char* option, double value) {
    demand(value > 0 && value <= 1e7, option, value, "use more than 0 seconds, up to 10 million");
  };
  seconds("suspect-after", w.suspect_after);
  seconds("gone-after", w.gone_after);
  seconds("wait-deadline", w.wait_deadline);
  seconds("start-deadline", w.start_deadline);
  seconds("settle-deadline", w.settle_deadline);
  seconds("report-every", w.report_every);
  if (w.gone_after < w.suspect_after) {
    throw ConfigError(fmt::format("--gone-after {} is less than --suspect-after {}", w.gone_after,
                                  w.suspect_after),
                      "a neighbour is suspect first and gone later: raise --gone-after");
  }
  demand(w.settle_target > 0 && w.settle_target <= 1, "settle-target", w.settle_target,
         "use a relative distance above 0, up to 1, e.g. 1e-3");
}

}  // namespace

stencil::Topology check_config(const TrainConfig& config) {
  const WorkerConfig& w = config.worker;
  stencil::Topology topology = stencil::Topology::parse(w.topology);
  if (config.workers != 0 && config.workers != topology.size()) {
    throw ConfigError(fmt::format("--workers {} contradicts --topology {}, which has {}",
                                  config.workers, w.topology, topology.size()),
                      fmt::format("leave --workers out, or say --workers {}", topology.size()));
  }
  check_training(w);
  check_exchange(w);
  demand_name("log-level", w.log_level, {"debug", "info", "warning", "error"});
  for (const auto& [rank, factor] : config.slow) {
    if (rank >= topology.size()) {
      throw ConfigError(fmt::format("--slow {}:{}: no such rank on {}", rank, factor, w.topology),
                        fmt::format("ranks are 0 to {}", topology.size() - 1));
    }
    demand(factor >= 1 && factor <= 1e6, "slow", factor, "use a factor of 1 to 1e6");
  }
  demand(w.jitter >= 0 && w.jitter <= 1000, "jitter", w.jitter, "use a share from 0, e.g. 0.5");
  if (w.out.empty()) throw ConfigError("--out is empty", "name a folder for the run");
  (void)dataset_shape(w.data);
  return topology;
}

void check_place(const WorkerConfig& config, const stencil::Topology& topology) {
  const int last = topology.size() - 1;
  if (config.rank < 0 || config.rank > last) {
    throw ConfigError(fmt::format("rank {} is outside {}", config.rank, config.topology),
                      fmt::format("its ranks are 0 to {}", last));
  }
  if (!config.peer_template.empty() && config.peer_template.find("{rank}") == std::string::npos) {
    throw ConfigError(fmt::format("--peer-template {} has no {{rank}} in it", config.peer_template),
                      "write e.g. tcp://worker-{rank}:5555");
  }
  if (config.listen.empty() && config.peers.empty() && config.peers_file.empty() &&
      config.peer_template.empty() && last > 0) {
    throw ConfigError("a worker that neither listens nor knows a peer can reach nobody",
                      "say --listen, --peer, --peers or --peer-template");
  }
  for (const auto& [rank, endpoint] : config.peers) {
    if (rank > last || !topology.are_neighbours(config.rank, rank)) {
      throw ConfigError(fmt::format("--peer {}={}: rank {} is no neighbour of rank {} on {}", rank,
                                    endpoint, rank, config.rank, config.topology),
                        fmt::format("'fast topology {}' shows who is", config.topology));
    }
  }
}

}  // namespace fast
