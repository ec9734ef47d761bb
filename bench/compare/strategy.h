#pragma once

#include <string>
#include <vector>

#include "stencil/runtime/exchange_options.h"

namespace fast::compare {

/// How workers train together: "single", "local", "allreduce", "stencil-async" .. Value type.
struct Strategy {
  std::string name = "stencil-async";
  double learning_rate = 0.1;
  /// Of those that exchange models; bucket_kib of "allreduce" too (0: as DistributedDataParallel
  /// has them, in virtual time none, see RoundClock).
  stencil::ExchangeOptions exchange{};
  bool auto_sweeps = false;       ///< exchange.sweeps are as many as the topology asks for
  std::string buffers = "local";  ///< BatchNorm's statistics in the end: "mix" | "local"
  double momentum_correction = 0;

  /// --mode of its workers where the product exchanges for it; "" for the others.
  [[nodiscard]] std::string mode() const;
  /// Models are exchanged bucket by bucket, not in lock step.
  [[nodiscard]] bool by_buckets() const { return !mode().empty() && mode() != "sync"; }
  [[nodiscard]] bool knows_buckets() const { return by_buckets() || name == "allreduce"; }
  [[nodiscard]] bool mixes_statistics() const { return buffers == "mix"; }
};

/// A strategy of that name where nothing else is said of it: as a worker's defaults have it, over
/// sockets, as the strategies that it is compared with.
[[nodiscard]] Strategy usual_strategy(const std::string& name);

/// Sets as many sweeps as the topology asks for, where the strategy says no number.
void choose_sweeps(Strategy& strategy, const std::string& topology);

/// The names of all strategies; "bounded:K" stands for any K.
[[nodiscard]] std::vector<std::string> strategy_names();

}  // namespace fast::compare
