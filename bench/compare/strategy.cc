#include "bench/compare/strategy.h"

#include "fast/train/worker_config.h"
#include "stencil/core/grid.h"
#include "stencil/core/topology.h"
#include "stencil/runtime/exchange_option_fields.h"

namespace fast::compare {

std::string Strategy::mode() const {
  constexpr std::string_view kPrefix = "stencil-";
  if (!name.starts_with(kPrefix)) return "";
  return name.substr(kPrefix.size());
}

Strategy usual_strategy(const std::string& name) {
  const WorkerConfig usual;
  Strategy s;
  s.name = name;
  s.exchange = stencil::bare_exchange();
  if (s.mode().empty()) return s;
  s.buffers = usual.buffers;
  s.momentum_correction = usual.optimizer.momentum_correction;
  s.exchange.mode = s.mode();
  s.exchange.transport = "tcp";
  if (!s.by_buckets()) return s;
  s.auto_sweeps = true;
  const stencil::ExchangeOptions& exchange = usual.session.exchange;
  s.exchange.linger = exchange.linger;
  s.exchange.phase_lock = exchange.phase_lock;
  s.exchange.overlap = exchange.overlap && s.mode() == "async";
  return s;
}

void choose_sweeps(Strategy& strategy, const std::string& topology) {
  if (!strategy.auto_sweeps) return;
  strategy.exchange.sweeps = stencil::Grid(stencil::Topology::parse(topology)).sweeps();
}

std::vector<std::string> strategy_names() {
  return {"single",
          "local",
          "allreduce",
          "parameter-server",
          "parameter-server-sync",
          "stencil-sync",
          "stencil-async",
          "stencil-bounded:K"};
}

}  // namespace fast::compare
