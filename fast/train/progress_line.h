#pragma once

#include <cstdint>
#include <string>

#include "fast/session/exchange.h"

namespace fast {

/// How far a worker is, for people: "step 1200, 48 % of the run, loss 0.512, 2 of 3 neighbours up".
[[nodiscard]] std::string progress_line(const Exchange& exchange, std::uint64_t steps);

}  // namespace fast
