#pragma once

#include "bench/exchange/contender.h"

namespace fast::exchange_bench {

/// Measures and writes what was seen to result-RANK.json where the processes meet.
void run_member(const Site& site, Contender& contender);

/// As one process hands it to another.
[[nodiscard]] Measured read_result(const Site& site);

}  // namespace fast::exchange_bench
