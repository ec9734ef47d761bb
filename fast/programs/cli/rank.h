#pragma once

#include <functional>
#include <optional>
#include <string>

namespace fast {

/// A variable's value; nullopt where it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// This process's environment.
[[nodiscard]] std::optional<std::string> read_environment(const std::string& name);
[[nodiscard]] std::string host_name();

/// The rank that whoever started us has given, in this order: SLURM_PROCID, OMPI_COMM_WORLD_RANK,
/// the number at the end of the host name's first label after a dash (worker-3, worker-3.domain:
/// 3, as Kubernetes and compose name replicas). Throws ConfigError where none is there, or where a
/// variable holds something else than a number.
[[nodiscard]] int detect_rank(const Environment& environment, const std::string& host);

}  // namespace fast
