#pragma once

#include <filesystem>

namespace fast {

/// Cores that this process may keep busy: those it may run on, or its control groups' quota of
/// processor time where that is less (`docker run --cpus 2`). At least 1.
[[nodiscard]] int available_cores();

/// The quota alone, in cores, rounded up; 0: none. `groups` is laid out as /sys/fs/cgroup, of
/// version 2 or 1; `self` as /proc/self/cgroup. A quota of any group above counts too.
[[nodiscard]] int quota_of_cores(const std::filesystem::path& groups,
                                 const std::filesystem::path& self);

}  // namespace fast
