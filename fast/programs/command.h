#pragma once

#include <functional>
#include <string>
#include <vector>

namespace fast {

/// Runs `body` and turns an exception into one line on stderr ("NAME: error: cause; remedy") and
/// the exit code of exit_codes.h.
int run_guarded(const std::string& name, const std::function<int()>& body);

/// argv[1..].
[[nodiscard]] std::vector<std::string> arguments(int argc, char** argv);

}  // namespace fast
