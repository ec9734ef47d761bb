#include "tests/support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace fast::testing {
namespace {

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return ends;
}

void take(int& descriptor, std::string& text) {
  std::array<char, 65536> buffer;
  while (descriptor >= 0) {
    const auto count = read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
      close(descriptor);
      descriptor = -1;
      return;
    }
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

Program::Program(const std::string& file, std::vector<std::string> arguments,
                 const std::map<std::string, std::string>& environment) {
  arguments.insert(arguments.begin(), file);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const auto out = make_pipe(), err = make_pipe();
  pid_ = fork();
  if (pid_ == 0) {
    setpgid(0, 0);
    for (const int number : {SIGINT, SIGHUP, SIGPIPE}) ::signal(number, SIG_DFL);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, 0);
    dup2(out[1], 1);
    dup2(err[1], 2);
    execv(argv[0], argv.data());
    _exit(127);
  }
  if (pid_ < 0) throw std::runtime_error("fork");
  close(out[1]);
  close(err[1]);
  out_ = out[0];
  err_ = err[0];
}

Program::~Program() {
  if (running_) {
    kill(-pid_, SIGKILL);
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (out_ >= 0) close(out_);
  if (err_ >= 0) close(err_);
}

void Program::signal(int number) const {
  if (running_) kill(pid_, number);
}

void Program::take_output(int milliseconds) {
  std::array<pollfd, 2> wait = {pollfd{out_, POLLIN, 0}, pollfd{err_, POLLIN, 0}};
  poll(wait.data(), wait.size(), milliseconds);
  take(out_, result_.out);
  take(err_, result_.err);
}

bool Program::ended() {
  int status = 0;
  if (!running_ || waitpid(pid_, &status, WNOHANG) != pid_) return !running_;
  running_ = false;
  if (WIFSIGNALED(status)) {
    result_.signal = WTERMSIG(status);
  } else {
    result_.code = WEXITSTATUS(status);
  }
  take_output(0);
  return true;
}

bool Program::wait_until(const std::function<bool()>& condition, Seconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  for (;;) {
    if (condition()) return true;
    if (ended()) return condition();
    if (std::chrono::steady_clock::now() > end) return false;
    take_output(20);
  }
}

ProgramResult Program::wait(Seconds deadline) {
  if (!wait_until([this] { return ended(); }, deadline)) {
    result_.timed_out = true;
    kill(-pid_, SIGKILL);
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    running_ = false;
  }
  return result_;
}

ProgramResult run_program(const std::string& file, std::vector<std::string> arguments,
                          const std::map<std::string, std::string>& environment,
                          std::chrono::seconds deadline) {
  return Program(file, std::move(arguments), environment).wait(deadline);
}

std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> out;
  std::istringstream in(read_text("/proc/" + std::to_string(parent) + "/task/" +
                                  std::to_string(parent) + "/children"));
  for (pid_t child = 0; in >> child;) out.push_back(child);
  return out;
}

}  // namespace fast::testing
