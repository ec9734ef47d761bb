#include "fast/train/aim.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "fast/train/models.h"
#include "stencil/core/topology.h"

namespace fast {
namespace {

/// Does not depend on the path of the files. Where each device holds its own data, sizes differ and
/// are left out.
std::string name_of(const WorkerConfig& config, const Dataset& data) {
  const std::string kind = data.name.substr(0, data.name.find(':'));
  if (config.partition == "own") return kind;
  return kind + " of " + std::to_string(data.train->size()) + " examples";
}

}  // namespace

std::uint64_t budget_of(const WorkerConfig& config, const Dataset& data) {
  const bool own = config.partition == "own";
  if (own && config.session.exchange.mode != "sync") return 0;
  constexpr double kMost = 1e18;  // fits 64 bits
  const double workers = stencil::Topology::parse(config.session.topology).size();
  const double shards = own ? workers : 1;
  const double samples = config.epochs * static_cast<double>(data.train->size()) * shards;
  const double least = workers * config.batch;
  return static_cast<std::uint64_t>(std::llround(std::clamp(samples, least, kMost)));
}

std::uint64_t lock_step_count(const WorkerConfig& config, std::uint64_t budget) {
  if (config.session.exchange.mode != "sync") return 0;
  const int workers = stencil::Topology::parse(config.session.topology).size();
  const std::uint64_t per_round = static_cast<std::uint64_t>(workers) * config.batch;
  return (budget + per_round - 1) / per_round;
}

SessionOptions common_options(const WorkerConfig& config, const Dataset& data,
                              std::uint64_t budget) {
  SessionOptions options = config.session;
  options.budget = budget;
  if (budget == 0) options.epochs = config.epochs;
  options.terms = {{"model", architecture(config.model)},
                   {"data", name_of(config, data)},
                   {"partition", config.partition}};
  if (config.loss != WorkerConfig().loss)
    options.terms.push_back({"loss", architecture(config.loss)});
  if (!config.freeze.empty()) options.terms.push_back({"freeze", config.freeze});
  if (config.weighting != "workers") options.terms.push_back({"weighting", config.weighting});
  return options;
}

WorkerStart start_of(const WorkerConfig& config, std::uint64_t budget, bool fresh) {
  return {.rank = config.session.rank,
          .workers = stencil::Topology::parse(config.session.topology).size(),
          .topology = config.session.topology,
          .mode = config.session.exchange.mode,
          .model = architecture(config.model),
          .data = config.data,
          .run_id = config.session.run_id,
          .version = "",
          .epochs = config.epochs,
          .budget = budget,
          .exchange = config.session.exchange,
          .fresh = fresh};
}

}  // namespace fast
