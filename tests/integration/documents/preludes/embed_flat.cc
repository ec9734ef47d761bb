// What the examples of fast/session leave out. Runs under fast run, or in the same environment;
// FAST_BUDGET says for how long.
#include <cstdio>
#include <exception>
#include <fstream>
#include <string_view>
#include <vector>

#include "adapters/flat/flat_adapter.h"
#include "fast/session/exit_code.h"
#include "fast/session/session.h"

namespace {

fast::ExitCode train() {
  std::vector<float> model(1000, 1.0F);
  fast::FlatAdapter adapter(model);
  const double loss = 0;
  int steps = 0;
  const auto step = [&] {
    for (float& value : model) value *= 0.999F;
    if (++steps == 1000) std::ifstream wait_for_a_writer("go-on");  // a named pipe, if it is there
  };
#include "fast-session-session.h.cpp.1"
  return fast::exit_code(session.finish());
}

/// The rank that the environment gives.
int rank() {
#include "fast-session-README.md.cpp.1"
  return options.rank;
}

}  // namespace

int main() {
  try {
    std::printf("rank %d\n", rank());
    return static_cast<int>(train());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(fast::exit_code(error));
  }
}
