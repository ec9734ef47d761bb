#include "fast/programs/launch/signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string>
#include <system_error>

#include "fast/exit_codes.h"
#include "stencil/core/error.h"

namespace fast {
namespace {

/// Runs in a thread that does not block `signal`: blocks it there from the handler's return on, and
/// sends it anew, so that it waits for the signalfd. Calls only what a handler may.
void pass_on(int signal, siginfo_t*, void* context) {
  sigaddset(&static_cast<ucontext_t*>(context)->uc_sigmask, signal);
  kill(getpid(), signal);
}

std::vector<int> user_signals(bool first, bool second) {
  std::vector<int> signals;
  if (first) signals.push_back(SIGUSR1);
  if (second) signals.push_back(SIGUSR2);
  return signals;
}

}  // namespace

WritesMayFail::WritesMayFail() {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &old_pipe_);
  sigaction(SIGXFSZ, &ignore, &old_size_);
}

WritesMayFail::~WritesMayFail() {
  sigaction(SIGPIPE, &old_pipe_, nullptr);
  sigaction(SIGXFSZ, &old_size_, nullptr);
}

StopRequests::Meaning StopRequests::on_signal(Clock::time_point now) {
  if (!first_) {
    first_ = now;
    return Meaning::kFirst;
  }
  return now - *first_ < kOneRequest ? Meaning::kSame : Meaning::kAgain;
}

SignalQueue::SignalQueue(bool children, const std::vector<int>& more) {
  for (int i = 0; i < 3; ++i) terminals_[static_cast<std::size_t>(i)] = isatty(i) == 1;
  sigset_t mask;
  sigemptyset(&mask);
  std::vector<int> taken = {SIGINT, SIGTERM, SIGHUP};
  if (children) taken.push_back(SIGCHLD);
  taken.insert(taken.end(), more.begin(), more.end());
  for (const int signal : taken) {
    struct sigaction now {};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler == SIG_IGN && signal != SIGCHLD) continue;
    sigaddset(&mask, signal);
    old_handlers_.emplace_back(signal, now);
  }
  descriptor_ = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
  pthread_sigmask(SIG_BLOCK, &mask, &old_mask_);
  struct sigaction handler {};
  handler.sa_sigaction = pass_on;
  handler.sa_flags = SA_SIGINFO | SA_RESTART;
  for (const auto& [signal, old] : old_handlers_) sigaction(signal, &handler, nullptr);
}

SignalQueue::~SignalQueue() {
  while (next() != 0) {
  }
  for (const auto& [signal, old] : old_handlers_) sigaction(signal, &old, nullptr);
  pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
  close(descriptor_);
}

int SignalQueue::next() {
  signalfd_siginfo info{};
  while (read(descriptor_, &info, sizeof(info)) == sizeof(info)) {
    if (info.ssi_signo != SIGHUP || !terminal_gone()) return static_cast<int>(info.ssi_signo);
  }
  return 0;
}

bool SignalQueue::terminal_gone() const {
  for (int i = 0; i < 3; ++i) {
    termios unused{};
    if (terminals_[static_cast<std::size_t>(i)] && tcgetattr(i, &unused) != 0 && errno == EIO) {
      return true;
    }
  }
  return false;
}

StopOnSignal::StopOnSignal(std::atomic<bool>& stop, bool heeded, std::function<void()> asked,
                           std::function<void()> toggled)
    : stop_(stop),
      heeded_(heeded),
      asked_(std::move(asked)),
      toggled_(std::move(toggled)),
      signals_(false, user_signals(asked_ != nullptr, toggled_ != nullptr)) {
  end_ = eventfd(0, EFD_CLOEXEC);
  if (end_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  try {
    thread_ = std::thread([this] { watch(); });
  } catch (const std::system_error& error) {
    close(end_);
    throw stencil::ResourceError(
        std::string("cannot start a thread: ") + error.what(),
        "raise the limit of processes (ulimit -u) or of memory (ulimit -v)");
  }
}

StopOnSignal::~StopOnSignal() {
  const std::uint64_t one = 1;
  if (write(end_, &one, sizeof(one)) != sizeof(one)) std::perror("eventfd");
  thread_.join();
  close(end_);
}

void StopOnSignal::watch() {
  StopRequests requests;
  std::array<pollfd, 2> wait{pollfd{signals_.descriptor(), POLLIN, 0}, pollfd{end_, POLLIN, 0}};
  for (;;) {
    if (poll(wait.data(), wait.size(), -1) < 0 && errno != EINTR) return;
    if (wait[1].revents != 0) return;
    while (const int signal = signals_.next()) {
      if (signal == SIGUSR1) {
        asked_();
        continue;
      }
      if (signal == SIGUSR2) {
        toggled_();
        continue;
      }
      const StopRequests::Meaning meaning = requests.on_signal(StopRequests::Clock::now());
      if (meaning == StopRequests::Meaning::kAgain || !heeded_) {
        _exit(static_cast<int>(ExitCode::kInterrupted));
      }
      stop_ = true;
    }
  }
}

}  // namespace fast
