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

/// Finds the rank that this process was started with. The variables of launchers come first, those
/// of an inner launcher before those of an outer one (mpirun in a job of Slurm):
/// OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK, SLURM_PROCID, RANK (beside WORLD_SIZE, as of
/// torchrun) and JOB_COMPLETION_INDEX (Kubernetes). Then comes the host's name, where it belongs to
/// a set: NAME-N, as replicas are called, with peers in `session` that are named NAME-K for their
/// rank K.
///
/// Throws ConfigError where there is no rank, where a variable does not hold a number, and where
/// the launcher has started another number of processes than `workers`.
[[nodiscard]] FoundRank detect_rank(const Environment& environment, const std::string& host,
                                    const SessionOptions& session, int workers);

}  // namespace fast
