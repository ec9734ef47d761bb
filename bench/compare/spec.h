#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/compare/cell.h"

namespace fast::compare {

/// A comparison: its name and all its cells, in the order in which they run.
struct Spec {
  std::string name;      ///< its folder and the file of its cells are called by it
  std::string question;  ///< what it answers, in one line; may be empty
  std::string tuned_by;  ///< the comparison that found the learning rates; empty: not tuned
  std::string job_at;    ///< file and line of [job], for errors found when the data are loaded
  std::vector<Cell> cells;
};

/// Reads a spec (TOML):
///
///     name = "uniform"
///     question = "..."     # what it answers, in one line
///     include = "FILE"     # a file beside this one: its [job] and [time] hold for the keys that
///                          # the spec's own do not name
///     seeds = [1, 2, 3]
///     tuned_by = "tune-rates"  # only said, where the rates were found by a comparison with [tune]
///     [job]                # what is trained and judged on; see Job
///     [time]               # kind = "real" | "virtual" | "stand-in"; step_seconds for the latter
///                          # two; latency, rate_mbit for virtual
///     [tune]               # learning_rates = [..]: for each strategy every rate, judged on the
///                          # held-out examples; without it the strategies' own rates
///     [[strategy]]         # name, learning_rate, sweeps, linger, phase_lock, overlap, codec,
///                          # bucket_kib, buffers, momentum_correction;
///                          # epochs where they are not those of [job]; conditions where it does
///                          # not meet all; seeds where they are not the spec's
///     [[condition]]        # name, topology, partition, slow = {"0" = 4}, jitter, link_mbit;
///                          # in virtual time frozen = ["RANK:FROM:TO"], dead (comes back at TO);
///                          # time where it is not that of [time]; seeds where not the spec's
///
/// Every strategy runs under every condition with every seed; where both have seeds of their own,
/// with those that both have. Throws ConfigError, naming file, line and key, for what is unknown,
/// of a wrong type, missing or contradictory.
[[nodiscard]] Spec parse_spec(std::string_view text, const std::string& file);
[[nodiscard]] Spec read_spec(const std::string& file);

}  // namespace fast::compare
