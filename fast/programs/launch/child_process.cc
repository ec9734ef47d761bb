#include "fast/programs/launch/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include "fast/errors.h"

namespace fast {
namespace {

constexpr std::size_t kTailBytes = 8192;
constexpr std::size_t kTailLines = 12;
/// A child that writes without end must not keep us from the others.
constexpr std::size_t kMostPerRead = 256 * 1024;

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!changes.contains(std::string(text.substr(0, text.find('='))))) out.emplace_back(text);
  }
  for (const auto& [name, value] : changes) {
    if (!value.empty()) out.push_back(name + "=" + value);
  }
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

/// In the child between fork and exec: only async-signal-safe calls. Reports errno on `report`.
[[noreturn]] void become(char* const* argv, char* const* envp, int output, int report,
                         pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() == parent) {
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0 && dup2(nothing, 0) >= 0 && dup2(output, 1) >= 0 && dup2(output, 2) >= 0) {
      execve(argv[0], argv, envp);
    }
  }
  const int error = errno;
  const auto written = write(report, &error, sizeof(error));
  _exit(written == sizeof(error) ? 127 : 126);
}

}  // namespace

std::string signal_name(int signal) {
  const char* const name = sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

ChildProcess::ChildProcess(const std::string& program, const std::vector<std::string>& arguments,
                           const std::map<std::string, std::string>& environment, Reach reach)
    : reach_(reach) {
  std::vector<std::string> args = {program};
  args.insert(args.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = merged_environment(environment);
  const std::vector<char*> argv = pointers(args), envp = pointers(variables);
  std::array<int, 2> output{}, report{};
  if (pipe2(output.data(), O_CLOEXEC) != 0) {
    throw FileError(fmt::format("no pipe for {}: {}", program, std::strerror(errno)),
                    "raise the limit of open files (ulimit -n)");
  }
  if (pipe2(report.data(), O_CLOEXEC) != 0) {
    close(output[0]);
    close(output[1]);
    throw FileError(fmt::format("no pipe for {}: {}", program, std::strerror(errno)),
                    "raise the limit of open files (ulimit -n)");
  }
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) become(argv.data(), envp.data(), output[1], report[1], parent);
  int error = pid_ < 0 ? errno : 0;
  close(output[1]);
  close(report[1]);
  output_ = output[0];
  fcntl(output_, F_SETFL, O_NONBLOCK);
  if (pid_ > 0 && read(report[0], &error, sizeof(error)) == sizeof(error)) {
    waitpid(pid_, nullptr, 0);
  }
  close(report[0]);
  if (error != 0) {
    close(output_);
    const bool files = error == EMFILE || error == ENFILE;
    throw FileError(fmt::format("cannot start {}: {}", program, std::strerror(error)),
                    files             ? "raise the limit of open files (ulimit -n)"
                    : error == EAGAIN ? "raise the limit of processes (ulimit -u)"
                                      : "check that it is a program for this machine");
  }
  running_ = true;
}

ChildProcess::~ChildProcess() {
  if (running_) {
    signal(SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (output_ >= 0) close(output_);
}

void ChildProcess::signal(int number) const {
  if (running_) kill(reach_ == Reach::kGroup ? -pid_ : pid_, number);
}

bool ChildProcess::reap() {
  siginfo_t ended{};
  if (!running_ ||
      waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      ended.si_pid != pid_) {
    return false;
  }
  // As long as it is not waited for, its group's number belongs to nobody else.
  const bool failed = ended.si_code != CLD_EXITED || ended.si_status != 0;
  if (reach_ == Reach::kGroup && failed) kill(-pid_, SIGKILL);
  int status = 0;
  if (waitpid(pid_, &status, 0) != pid_) return false;
  running_ = false;
  if (WIFSIGNALED(status)) {
    exit_.signal = WTERMSIG(status);
  } else {
    exit_.code = WEXITSTATUS(status);
  }
  return true;
}

std::string ChildProcess::read_output() {
  std::string read_now;
  std::array<char, 4096> buffer;
  while (output_ >= 0 && read_now.size() < kMostPerRead) {
    const auto count = read(output_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    if (count <= 0) {
      close(output_);
      output_ = -1;
      break;
    }
    read_now.append(buffer.data(), static_cast<std::size_t>(count));
  }
  tail_ += read_now;
  if (tail_.size() > 2 * kTailBytes) tail_.erase(0, tail_.size() - kTailBytes);
  return read_now;
}

std::vector<std::string> ChildProcess::last_lines() const {
  std::vector<std::string> lines;
  std::istringstream in(tail_);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  if (lines.size() > kTailLines) lines.erase(lines.begin(), lines.end() - kTailLines);
  return lines;
}

std::string ChildProcess::activity() const {
  std::ifstream in(fmt::format("/proc/{}/stat", pid_));
  std::string text;
  if (!std::getline(in, text)) return "";
  // The command name in parentheses may hold any character; fields are counted after it.
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  const std::vector<std::string> words{std::istream_iterator<std::string>(fields),
                                       std::istream_iterator<std::string>()};
  constexpr std::size_t kUserTime = 11, kSystemTime = 12;
  if (words.size() <= kSystemTime) return "";
  return (words[0] == "T" ? "stopped " : "") + words[kUserTime] + " " + words[kSystemTime];
}

}  // namespace fast
