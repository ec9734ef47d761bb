#include "fast/session/pump_options.h"

#include <algorithm>
#include <random>
#include <string>

#include "fast/model/carried_arrays.h"
#include "fast/options/rank.h"
#include "fast/options/security.h"
#include "fast/options/terms.h"
#include "stencil/core/data_rate.h"
#include "stencil/runtime/engine_config.h"

namespace fast {
namespace {

stencil::LifeId new_life() {
  std::random_device random;
  const auto draw = [&random] { return std::uint64_t{random()} << 32 | std::uint64_t{random()}; };
  return {draw(), draw()};
}

}  // namespace

std::size_t largest_payload(const stencil::Layout& layout, const stencil::Carried& carried) {
  const std::size_t bucket = layout.bucket_floats() * sizeof(float);
  return carried.chunks() == 0 ? bucket : std::max(bucket, carried.size(0));
}

stencil::PumpOptions make_pump_options(const SessionOptions& options, const stencil::Grid& grid,
                                       const stencil::Layout& layout, std::uint64_t initial_hash,
                                       ModelAdapter& adapter, stencil::Carried& carried,
                                       const stencil::Bounds& bounds, double progress, bool trained,
                                       stencil::DataUsed used) {
  const auto buckets = static_cast<std::uint32_t>(layout.bucket_count()) + 1;  // the telemetry's
  stencil::PumpOptions pump;
  pump.engine = stencil::make_engine_config(options.exchange, grid, options.rank, buckets);
  bounds.apply_to(pump.engine);
  pump.payloads = bounds.payloads;
  const ExchangeOptions& exchange = options.exchange;
  pump.max_rate = stencil::parse_rate(exchange.max_rate).value_or(0);
  const auto allowance = stencil::parse_allowance(exchange.data_cap);
  pump.data_cap = stencil::DataCap(allowance.value_or(stencil::DataAllowance{}), used);
  pump.engine.seed = options.seed;
  pump.engine.naming = options.naming;
  stencil::Hello& hello = pump.engine.hello;
  hello.run_id = options.run_id;
  hello.topology = stencil::value_of(make_terms(options, grid.topology(), layout), "topology");
  hello.generation = options.generation;
  hello.life = new_life();
  hello.host = host_name();
  pump.engine.terms = more_terms(options);
  pump.engine.terms.push_back({"frozen parameters and buffers", describe_carried(adapter)});
  pump.engine.arrays = array_list(layout, adapter);
  pump.carried = &carried;
  hello.layout_hash = layout.hash();
  hello.initial_hash = initial_hash;
  pump.keys = key_files(options).has_value();
  // Nobody else is in this process.
  pump.engine.proven = pump.keys || options.listen.starts_with("inproc://");
  if (options.budget > 0) {
    // A step has a sample at least, and what is over the budget is made while word of it travels.
    pump.engine.most_progress = 2.0 * static_cast<double>(options.budget) + 1000;
  }
  hello.progress = progress;
  pump.engine.trained = trained;
  pump.settle_threshold = grid.settle_threshold(options.exchange.settle_target);
  return pump;
}

}  // namespace fast
