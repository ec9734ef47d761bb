#pragma once

#include "bench/exchange/contender.h"

namespace fast::exchange_bench {

/// Measures and writes the result to result-RANK.json in the meeting folder.
void run_member(const Site& site, Contender& contender);

/// Reads the result of a process.
[[nodiscard]] Measured read_result(const Site& site);

}  // namespace fast::exchange_bench
