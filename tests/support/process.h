#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace fast::testing {

/// The deadline of tests that run programs, longer than a loaded machine ever needs.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr std::chrono::seconds kPatience{600};
#else
inline constexpr std::chrono::seconds kPatience{150};
#endif

/// A program's exit and its output.
struct ProgramResult {
  int code = -1;   ///< exit code; -1 where a signal ended it
  int signal = 0;  ///< that signal
  bool timed_out = false;
  std::string out, err;
};

/// A program under test, in a process group of its own. Every wait has a deadline, after which the
/// whole group is killed and the result says timed_out.
class Program {
 public:
  using Seconds = std::chrono::seconds;

  /// `environment` is added to ours.
  Program(const std::string& file, std::vector<std::string> arguments,
          const std::map<std::string, std::string>& environment = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const;

  /// Reads its output and polls `condition` until it holds (returns true), or until the program
  /// ends or the deadline passes (returns false).
  bool wait_until(const std::function<bool()>& condition, Seconds deadline = Seconds(60));
  /// Waits for its end.
  ProgramResult wait(Seconds deadline = Seconds(60));

  [[nodiscard]] const std::string& out() const { return result_.out; }
  [[nodiscard]] const std::string& err() const { return result_.err; }

 private:
  void take_output(int milliseconds);
  bool ended();

  pid_t pid_ = -1;
  bool running_ = true;
  int out_ = -1, err_ = -1;
  ProgramResult result_;
};

/// Starts, waits, returns.
ProgramResult run_program(const std::string& file, std::vector<std::string> arguments,
                          const std::map<std::string, std::string>& environment = {},
                          std::chrono::seconds deadline = std::chrono::seconds(60));

/// The whole file; "" where there is none.
[[nodiscard]] std::string read_text(const std::filesystem::path& file);

/// Processes whose parent is `parent`.
[[nodiscard]] std::vector<pid_t> children_of(pid_t parent);

}  // namespace fast::testing
