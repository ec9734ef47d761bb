#include "stencil/runtime/engine_config.h"

#include <algorithm>
#include <cmath>

#include "stencil/mix/codecs/kinds.h"
#include "stencil/runtime/budget.h"
#include "stencil/runtime/phase_lock.h"

namespace stencil {

GridFigures figures_of(const Grid& grid, const ExchangeOptions& options) {
  GridFigures figures = GridFigures::of(grid);
  const double sweeps = options.sweeps ? *options.sweeps : grid.sweeps();
  figures.sweeps_per_mille = static_cast<std::uint32_t>(std::lround(1000 * sweeps));
  return figures;
}

EngineConfig make_engine_config(const ExchangeOptions& options, const Grid& grid, Rank rank,
                                std::uint32_t buckets) {
  options.validate();
  EngineConfig engine;
  engine.stand(grid, rank);
  engine.mode = Mode::parse(options.mode);
  engine.buckets = buckets;
  engine.grid = figures_of(grid, options);
  usual_bounds(static_cast<std::uint32_t>(options.window)).apply_to(engine);
  engine.suspect_after = seconds(options.suspect_after);
  engine.gone_after = seconds(options.gone_after);
  engine.heartbeat_every = std::min(engine.heartbeat_every, engine.suspect_after / 4);
  if (options.phase_lock > 0 && options.linger > 0) engine.tell_every = PhaseLock::kShortestStep;
  engine.lowest_initial = options.initial == "lowest";
  engine.hello.mode = engine.mode.name();
  engine.hello.codec = parse_codec(options.codec);
  return engine;
}

Duration wait_for_rate(const EngineConfig& config, const Layout& layout, double rate) {
  if (rate <= 0) return {};
  const std::size_t bucket = layout.bucket_floats() * sizeof(float);
  const std::size_t most = config.window_total + config.neighbours.size() * config.window;
  return seconds(2 * static_cast<double>(most * bucket) / rate);
}

}  // namespace stencil
