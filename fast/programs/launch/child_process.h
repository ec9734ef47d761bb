#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fast {

/// How a child ended.
struct ChildExit {
  int code = 0;    ///< exit code; 0 where a signal ended it
  int signal = 0;  ///< 0 where it exited by itself
  [[nodiscard]] bool ok() const { return code == 0 && signal == 0; }
  /// The code as a shell gives it: the exit code, or 128 + signal.
  [[nodiscard]] int shell_code() const { return signal != 0 ? 128 + signal : code; }
  friend bool operator==(const ChildExit&, const ChildExit&) = default;
};

/// "SIGKILL" for 9, and so on.
[[nodiscard]] std::string signal_name(int signal);

/// What a signal to a child reaches.
enum class Reach {
  kProcess,
  kGroup,  ///< also what the child has started; and what is left of that is killed when it fails
};

/// A started program. It has its own process group (so that the terminal's Ctrl-C reaches only us,
/// and we decide which child gets a signal), an unblocked signal mask, stdin from /dev/null, and
/// stdout and stderr into a pipe of which the last lines are kept. It gets SIGTERM when the thread
/// that started it ends, however that ends. One thread.
class ChildProcess {
 public:
  /// `environment` is added to ours; "" removes a variable. Throws FileError where the program
  /// cannot be run.
  ChildProcess(const std::string& program, const std::vector<std::string>& arguments,
               const std::map<std::string, std::string>& environment,
               Reach reach = Reach::kProcess);
  /// Kills and reaps a child that still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool running() const { return running_; }
  /// Requires !running().
  [[nodiscard]] const ChildExit& exit() const { return exit_; }
  void signal(int number) const;

  /// Checks, without waiting, whether it has ended; returns true at the call that notices it. Its
  /// last output may still be unread.
  bool reap();

  /// The descriptor of its output; -1 after the end of the output.
  [[nodiscard]] int descriptor() const { return output_; }
  /// Returns what it has written since the last call, without waiting.
  std::string read_output();
  /// The last lines that it wrote, oldest first.
  [[nodiscard]] std::vector<std::string> last_lines() const;

  /// A text that changes while the process works: its CPU time and whether it is stopped, from
  /// /proc. "" where that cannot be read.
  [[nodiscard]] std::string activity() const;

 private:
  pid_t pid_ = -1;
  Reach reach_;
  bool running_ = false;
  ChildExit exit_;
  int output_ = -1;
  std::string tail_;
};

}  // namespace fast
