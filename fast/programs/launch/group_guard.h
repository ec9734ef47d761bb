#pragma once

#include <sys/types.h>

namespace fast {

/// Ends process groups whose launcher can no longer do it: a process that waits for the launcher's
/// end, however that comes, SIGKILL included. PR_SET_PDEATHSIG reaches a launcher's children and
/// not what those have started. Each group that is still there gets SIGTERM, and SIGKILL after
/// `grace` seconds. One thread; make it while the process has no other.
class GroupGuard {
 public:
  /// Throws FileError where no process can be started.
  explicit GroupGuard(double grace);
  /// The guard ends the groups that were not removed, without being waited for.
  ~GroupGuard();
  GroupGuard(const GroupGuard&) = delete;
  GroupGuard& operator=(const GroupGuard&) = delete;

  /// `leader`: the first process of the group, whose number the group has.
  void add(pid_t leader);
  /// Of a group that is over, or that may live on.
  void remove(pid_t leader);

 private:
  void tell(pid_t number);

  int orders_ = -1;  ///< the guard reads from it: a leader's number, or its negative
};

}  // namespace fast
