#include "fast/session/data_watch.h"

#include <cmath>
#include <utility>

#include "stencil/core/byte_size.h"

namespace fast {
namespace {

/// Below this pace it is said that sweeps are rarer.
constexpr double kWorthALine = 0.5;

std::string used(const stencil::PumpStatus& status, const SessionOptions& options) {
  return options.naming("data_cap") + " " + options.exchange.data_cap + ": " +
         stencil::bytes_text(status.data.bytes) + " are used in " +
         std::to_string(std::lround(status.data.seconds / 60)) + " minutes of the period";
}

}  // namespace

std::optional<std::string> DataWatch::look(const stencil::PumpStatus& status,
                                           const SessionOptions& options) {
  if (std::exchange(rests_, status.rests) != status.rests) {
    return used(status, options) +
           (rests_ ? "; trains alone for a while, and neighbours show it as paused"
                   : "; exchanges again");
  }
  if (rests_ || status.data_pace >= kWorthALine) return std::nullopt;
  if (std::exchange(told_rarer_, true)) return std::nullopt;
  return used(status, options) + "; models are averaged more rarely. A coarser " +
         options.naming("codec") + " or fewer " + options.naming("sweeps") + " make it last longer";
}

}  // namespace fast
