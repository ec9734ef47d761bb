#include "fast/session/pump_options.h"

#include <chrono>

#include "fast/session/terms.h"
#include "stencil/runtime/engine_config.h"

namespace fast {

stencil::PumpOptions make_pump_options(const SessionOptions& options,
                                       const stencil::Topology& topology,
                                       const stencil::Layout& layout, std::uint64_t initial_hash,
                                       double progress) {
  const auto buckets = static_cast<std::uint32_t>(layout.bucket_count()) + 1;  // the telemetry's
  stencil::PumpOptions pump;
  pump.engine = stencil::make_engine_config(options.exchange, topology, stencil::Turns(topology),
                                            options.rank, buckets);
  pump.engine.seed = options.seed;
  stencil::Hello& hello = pump.engine.hello;
  hello.run_id = options.run_id;
  hello.topology = stencil::value_of(make_terms(options, topology, layout), "topology");
  hello.incarnation = static_cast<std::uint64_t>(
      std::chrono::system_clock::now().time_since_epoch() / std::chrono::microseconds(1));
  hello.layout_hash = layout.hash();
  hello.initial_hash = initial_hash;
  hello.progress = progress;
  pump.settle_threshold = stencil::settle_threshold(topology, options.exchange.settle_target);
  return pump;
}

}  // namespace fast
