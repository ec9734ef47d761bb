#pragma once

#include "bench/compare/cell.h"
#include "fast/run/json.h"

namespace fast::compare {

using nlohmann::json;
using nlohmann::ordered_json;

/// All that determines a cell. The cell's hash is taken over this, with sorted keys.
[[nodiscard]] json describe(const Cell& cell);

}  // namespace fast::compare
