#pragma once

#include <optional>
#include <string>

#include "fast/errors.h"
#include "fast/options/environment.h"
#include "fast/options/session_options.h"
#include "stencil/core/option_field.h"

namespace fast {

[[nodiscard]] std::string host_name();

struct FoundRank {
  int rank = -1;
  std::string source;  ///< for people: the variable, or the host's name; empty for who is alone
};

/// Finds the rank that this process was started with. The variables of launchers come first, those
/// of an inner launcher before those of an outer one (mpirun in a job of Slurm). Then comes the
/// host's name, where it belongs to a set: NAME-N, as replicas are called, with peers in `session`
/// that are named NAME-K for their rank K. Who is alone is rank 0.
///
/// Returns nothing where there is no rank. Throws ConfigError where a variable does not hold a
/// number, and where the launcher has started another number of processes than `workers`; `naming`
/// is how its remedy calls the option that gives a rank.
[[nodiscard]] std::optional<FoundRank> find_rank(const Environment& environment,
                                                 const std::string& host,
                                                 const SessionOptions& session, int workers,
                                                 stencil::OptionNaming naming);
/// The variables of launchers that find_rank() reads, in its order: "OMPI_COMM_WORLD_RANK, ..".
[[nodiscard]] std::string rank_variables();
/// What to throw where find_rank() finds none and there is no other.
[[nodiscard]] ConfigError no_rank(const std::string& host, stencil::OptionNaming naming);

}  // namespace fast
