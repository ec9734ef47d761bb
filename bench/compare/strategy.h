#pragma once

#include <string>
#include <vector>

#include "stencil/runtime/exchange_options.h"

namespace fast::compare {

/// How workers train together: "single", "local", "allreduce", "stencil-async" .. Value type.
struct Strategy {
  std::string name = "stencil-async";
  double learning_rate = 0.1;
  /// Used by strategies that exchange models; bucket_kib also by "allreduce" (0: the buckets of
  /// DistributedDataParallel; in virtual time none, see RoundClock).
  stencil::ExchangeOptions exchange{};
  bool auto_sweeps = false;       ///< exchange.sweeps is the usual number of the topology
  std::string buffers = "local";  ///< BatchNorm's final statistics: "mix" | "local"
  double momentum_correction = 0;

  /// --mode of its workers where it uses the product's exchange; "" for the others.
  [[nodiscard]] std::string mode() const;
  /// Whether models are exchanged bucket by bucket, not in lock step.
  [[nodiscard]] bool by_buckets() const { return !mode().empty() && mode() != "sync"; }
  [[nodiscard]] bool knows_buckets() const { return by_buckets() || name == "allreduce"; }
  [[nodiscard]] bool mixes_statistics() const { return buffers == "mix"; }
};

/// A strategy of that name with a worker's defaults, but over sockets, as the strategies that it is
/// compared with.
[[nodiscard]] Strategy usual_strategy(const std::string& name);

/// Sets the usual number of sweeps of the topology where the strategy gives none.
void choose_sweeps(Strategy& strategy, const std::string& topology);

/// The names of all strategies; "bounded:K" stands for any K.
[[nodiscard]] std::vector<std::string> strategy_names();

}  // namespace fast::compare
