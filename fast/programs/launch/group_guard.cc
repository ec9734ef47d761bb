#include "fast/programs/launch/group_guard.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <set>

#include "fast/errors.h"
#include "stencil/core/types.h"

namespace fast {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLookMilliseconds = 50;

void signal_all(const std::set<pid_t>& groups, int number) {
  for (const pid_t leader : groups) kill(-leader, number);
}

/// Reads orders until the launcher has ended.
std::set<pid_t> groups_at_the_end(int orders) {
  std::set<pid_t> groups;
  for (pid_t number = 0;;) {
    const auto got = read(orders, &number, sizeof number);  // a write of so few bytes is whole
    if (got < 0 && errno == EINTR) continue;
    if (got != sizeof number) return groups;
    if (number > 0) {
      groups.insert(number);
    } else {
      groups.erase(-number);
    }
  }
}

void end_groups(std::set<pid_t> groups, double grace) {
  signal_all(groups, SIGTERM);
  signal_all(groups, SIGCONT);  // a stopped process gets the signal only then
  const auto until = Clock::now() + stencil::seconds(grace);
  while (!groups.empty() && Clock::now() < until) {
    poll(nullptr, 0, kLookMilliseconds);
    std::erase_if(groups, [](pid_t leader) { return kill(-leader, 0) != 0 && errno == ESRCH; });
  }
  signal_all(groups, SIGKILL);
}

/// In a child of the launcher's, whose own child is the guard: so the launcher has no children but
/// its workers, and nothing to wait for. The guard holds nothing of the launcher's: no lock, no
/// port, no end of a pipe. Reports errno on `report` where it cannot be started.
[[noreturn]] void become_guard(int orders, int report, double grace) {
  const pid_t guard = fork();
  if (guard != 0) {
    const int error = errno;
    if (guard < 0 && write(report, &error, sizeof error) < 0) _exit(1);
    _exit(0);
  }
  setsid();  // what ends the launcher's group or terminal does not end the guard
  prctl(PR_SET_NAME, "fast-guard");
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  if (dup2(orders, 0) == 0) {
    close_range(1, ~0U, 0);
    end_groups(groups_at_the_end(0), grace);
  }
  _exit(0);
}

[[noreturn]] void cannot_start(int error) {
  throw FileError(fmt::format("cannot start the guard of processes: {}", std::strerror(error)),
                  error == EAGAIN ? "raise the limit of processes (ulimit -u)"
                                  : "raise the limit of open files (ulimit -n)");
}

}  // namespace

GroupGuard::GroupGuard(double grace) {
  std::array<int, 2> orders{}, report{};
  if (pipe2(orders.data(), O_CLOEXEC) != 0) cannot_start(errno);
  if (pipe2(report.data(), O_CLOEXEC) != 0) {
    const int error = errno;
    close(orders[0]);
    close(orders[1]);
    cannot_start(error);
  }
  const pid_t child = fork();
  if (child == 0) become_guard(orders[0], report[1], grace);
  int error = child < 0 ? errno : 0;
  close(orders[0]);
  close(report[1]);
  if (child > 0) {
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (read(report[0], &error, sizeof error) != sizeof error) error = 0;
  }
  close(report[0]);
  orders_ = orders[1];
  if (error == 0) return;
  close(orders_);
  cannot_start(error);
}

GroupGuard::~GroupGuard() {
  close(orders_);
}

void GroupGuard::add(pid_t leader) {
  tell(leader);
}

void GroupGuard::remove(pid_t leader) {
  tell(-leader);
}

/// A guard that has been killed guards nothing, and harms nobody: SIGPIPE is ignored where
/// WritesMayFail lives.
void GroupGuard::tell(pid_t number) {
  while (write(orders_, &number, sizeof number) < 0 && errno == EINTR) {
  }
}

}  // namespace fast
