#pragma once

#include <string>
#include <vector>

#include "bench/compare/report/table.h"

namespace fast::compare {

/// Markdown and CSV of the same rows.
[[nodiscard]] std::string to_markdown(const std::vector<Group>& groups);
[[nodiscard]] std::string to_csv(const std::vector<Group>& groups);

}  // namespace fast::compare
