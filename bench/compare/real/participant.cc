#include "bench/compare/real/participant.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/compare/real/allreduce.h"
#include "bench/compare/real/counted_exchange.h"
#include "bench/compare/real/parameter_server.h"
#include "fast/errors.h"

namespace fast::compare {

bool has_server(const Strategy& strategy) {
  return strategy.name.starts_with("parameter-server");
}

bool bears_losses(const Strategy& strategy) {
  return strategy.by_buckets();
}

Participant make_participant(const Cell& cell, const Place& place,
                             std::unique_ptr<TorchLearner> learner) {
  const std::string& name = cell.strategy.name;
  if (!cell.strategy.mode().empty()) return {std::move(learner), {}};
  if (name == "single" || name == "local") return {std::move(learner), make_counted(place)};
  if (name == "allreduce")
    return make_allreduce(place, std::move(learner), cell.strategy.exchange.bucket_kib);
  if (has_server(cell.strategy)) return make_server_client(place, std::move(learner));
  throw ConfigError("no strategy '" + name + "'",
                    fmt::format("use one of {}", fmt::join(strategy_names(), ", ")));
}

}  // namespace fast::compare
