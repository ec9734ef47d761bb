#pragma once

#include "bench/compare/cell.h"
#include "fast/run/json.h"

namespace fast::compare {

using nlohmann::json;
using nlohmann::ordered_json;

/// All that determines a cell: its hash is of this, with sorted keys.
[[nodiscard]] json describe(const Cell& cell);

}  // namespace fast::compare
