#pragma once

#include <functional>
#include <optional>
#include <string>

#include "fast/session/session_options.h"

namespace fast {

/// A variable's value; nullopt where it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// This process's environment.
[[nodiscard]] std::optional<std::string> read_environment(const std::string& name);
[[nodiscard]] std::string host_name();

struct FoundRank {
  int rank = -1;
  std::string source;  ///< for people: the variable, or the host's name
};

/// The rank that whoever started us has given. The variables of launchers come first, the innermost
/// launcher's before those of one around it (mpirun in a job of Slurm): OMPI_COMM_WORLD_RANK,
/// PMIX_RANK, PMI_RANK, SLURM_PROCID, RANK (beside WORLD_SIZE, as of torchrun) and
/// JOB_COMPLETION_INDEX (Kubernetes). Then the host's name, where it is of a set: NAME-N, as
/// replicas are called, with peers in `session` that are named NAME-K for their rank K.
///
/// Throws ConfigError where none is there, where a variable holds something else than a number, and
/// where the launcher has started another number of processes than `workers`.
[[nodiscard]] FoundRank detect_rank(const Environment& environment, const std::string& host,
                                    const SessionOptions& session, int workers);

}  // namespace fast
