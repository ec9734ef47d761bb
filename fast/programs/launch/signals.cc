#include "fast/programs/launch/signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <system_error>

#include "fast/exit_codes.h"

namespace fast {

SignalQueue::SignalQueue(bool children) {
  sigset_t mask;
  sigemptyset(&mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&mask, signal);
  if (children) sigaddset(&mask, SIGCHLD);
  descriptor_ = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
  pthread_sigmask(SIG_BLOCK, &mask, &old_mask_);
}

SignalQueue::~SignalQueue() {
  while (next() != 0) {
  }
  pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
  close(descriptor_);
}

int SignalQueue::next() {
  signalfd_siginfo info{};
  if (read(descriptor_, &info, sizeof(info)) != sizeof(info)) return 0;
  return static_cast<int>(info.ssi_signo);
}

StopOnSignal::StopOnSignal(std::atomic<bool>& stop) : stop_(stop), signals_(false) {
  end_ = eventfd(0, EFD_CLOEXEC);
  if (end_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  thread_ = std::thread([this] { watch(); });
}

StopOnSignal::~StopOnSignal() {
  const std::uint64_t one = 1;
  if (write(end_, &one, sizeof(one)) != sizeof(one)) std::perror("eventfd");
  thread_.join();
  close(end_);
}

void StopOnSignal::watch() {
  std::array<pollfd, 2> wait{pollfd{signals_.descriptor(), POLLIN, 0}, pollfd{end_, POLLIN, 0}};
  for (;;) {
    if (poll(wait.data(), wait.size(), -1) < 0 && errno != EINTR) return;
    if (wait[1].revents != 0) return;
    while (signals_.next() != 0) {
      if (stop_.exchange(true)) _exit(static_cast<int>(ExitCode::kInterrupted));
    }
  }
}

}  // namespace fast
