#include "fast/programs/command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>

#include "fast/error_text.h"
#include "fast/options/environment.h"
#include "fast/session/exit_code.h"
#include "fast/train/log_style.h"

namespace fast {
namespace {

int fail(const std::string& name, const char* text, ExitCode code) {
  std::fflush(stdout);
  const LogStyle style = log_style("auto", read_environment, STDERR_FILENO);
  std::cerr << styled(style, LogLevel::kError, fmt::format("{}: error: {}", name, text)) << '\n';
  return static_cast<int>(code);
}

}  // namespace

int run_guarded(const std::string& name, const std::function<int()>& body) {
  try {
    return body();
  } catch (const std::filesystem::filesystem_error& error) {
    const std::string text =
        std::string(error.what()) + "; check that the folder is there, and its permissions";
    return fail(name, text.c_str(), ExitCode::kFile);
  } catch (const std::exception& error) {
    return fail(name, error_text(error).c_str(), exit_code(error));
  }
}

std::vector<std::string> arguments(int argc, char** argv) {
  return argc > 1 ? std::vector<std::string>(argv + 1, argv + argc) : std::vector<std::string>();
}

}  // namespace fast
