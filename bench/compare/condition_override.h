#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/compare/spec.h"

namespace fast::compare {

/// A condition given on the command line, instead of a spec's own.
struct ConditionOverride {
  std::vector<std::string> slow;  ///< "RANK:FACTOR"
  std::optional<double> jitter, link_mbit;
  std::optional<std::string> topology, partition;

  [[nodiscard]] bool any() const {
    return !slow.empty() || jitter || link_mbit || topology || partition;
  }
};

void add_options(CLI::App& app, ConditionOverride& wanted);

/// The same comparison under one condition: the spec's first, changed as `wanted`. Throws
/// ConfigError naming the option.
[[nodiscard]] Spec under(const Spec& spec, const ConditionOverride& wanted);

}  // namespace fast::compare
