#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace fast {

/// The number of cores that this process may use: those in its affinity mask, or its control
/// groups' CPU quota where that is less (`docker run --cpus 2`). At least 1.
[[nodiscard]] int available_cores();

/// Variables of a worker that keep the numeric libraries of every framework within `threads`, and
/// keep their threads from spinning while they wait: workers share cores with each other's
/// background threads. A wait policy that is set already stays.
[[nodiscard]] std::map<std::string, std::string> thread_variables(int threads);

/// Where `threads` are more than one and the environment has no wait policy, starts this program
/// anew in the same process, with thread_variables(): numeric libraries read them when they are
/// loaded, before main(). Returns where nothing is to be done or it cannot be. Call it before
/// anything is opened or started.
void keep_threads_from_spinning(int threads);

/// The quota alone, in cores, rounded up; 0: none. `groups` has the layout of /sys/fs/cgroup,
/// version 2 or 1; `self` that of /proc/self/cgroup. Quotas of parent groups count too.
[[nodiscard]] int quota_of_cores(const std::filesystem::path& groups,
                                 const std::filesystem::path& self);

}  // namespace fast
