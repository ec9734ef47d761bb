#include "fast/session/sweep_watch.h"

#include <chrono>
#include <iomanip>
#include <sstream>

#include "stencil/mix/codecs/kinds.h"

namespace fast {

using stencil::Mode;

namespace {

/// An exchange that takes longer may do so for the bytes that it sends.
constexpr stencil::Duration kOfBytes = std::chrono::milliseconds(2);

/// Sweeps a step; a worker without a partner in a turn sits it out.
double asked_for(const Mode& mode, const stencil::GridFigures& grid, std::size_t neighbours) {
  if (mode.kind == Mode::Kind::kSync) return 0;
  const double begun = grid.sweeps_per_mille / 1000.0;
  if (grid.turns == 0) return begun;
  return begun * static_cast<double>(neighbours) / static_cast<double>(grid.turns);
}

bool offers_little(const stencil::CodecSpec& spec) {
  constexpr std::size_t kFloats = 1 << 16;
  return stencil::make_edge_codec(spec, stencil::Layout::flat(0), {})->offer_form(kFloats).bytes <
         kFloats;
}

}  // namespace

SweepWatch::SweepWatch(const stencil::EngineConfig& config)
    : mode_(config.mode),
      naming_(config.naming),
      thin_(offers_little(config.hello.codec)),
      asked_(asked_for(config.mode, config.grid, config.neighbours.size())) {}

void SweepWatch::follow(const stencil::GridFigures& grid, std::size_t neighbours) {
  asked_ = asked_for(mode_, grid, neighbours);
  watching_ = false;
}

std::optional<double> SweepWatch::look(stencil::TimePoint now, std::uint64_t steps,
                                       std::uint64_t sweeps, bool reached) {
  if (!reached || !watching_) {
    watching_ = reached;
    steps_ = steps;
    sweeps_ = sweeps;
    since_ = now;
    return std::nullopt;
  }
  if (spoken_ || steps < steps_ + kSteps) return std::nullopt;
  const double rate = static_cast<double>(sweeps - sweeps_) / static_cast<double>(steps - steps_);
  step_ = (now - since_) / static_cast<std::int64_t>(steps - steps_);
  steps_ = steps;
  sweeps_ = sweeps;
  since_ = now;
  spoken_ = rate < asked_ / 2;
  return spoken_ ? std::optional(rate) : std::nullopt;
}

std::string SweepWatch::advice(double rate, stencil::Duration exchange, bool shared) const {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  std::ostringstream text;
  text << "models are averaged with neighbours " << std::setprecision(2) << rate
       << " times a step, where " << std::setprecision(6) << asked_
       << " were asked for, which costs accuracy: ";
  if (2 * step_ < 3 * exchange) {  // a step includes what its boundary waited
    text << "a step takes " << std::setprecision(2) << Milliseconds(step_).count()
         << " ms and the exchange of one bucket " << Milliseconds(exchange).count()
         << "; larger batches leave time for it";
  } else {
    text << (shared ? "neighbours answer late, as on a busy host"
                    : "links are slow, or neighbours answer late");
  }
  const bool of_bytes = exchange == stencil::Duration() || exchange >= kOfBytes;
  if (!thin_ && of_bytes && !shared)
    text << "; " << naming_("codec") << " int4 or topk:0.1 sends less";
  if (mode_.kind != Mode::Kind::kBounded) {
    text << "; " << naming_("mode") << " bounded:3 waits for averages";
  }
  return text.str();
}

}  // namespace fast
