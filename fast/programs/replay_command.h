#pragma once

#include <string>
#include <vector>

#include "fast/train/models.h"

namespace CLI {
class App;
}

namespace fast {

/// The options of fast replay.
struct ReplayQuery {
  std::string file;
  int edge = -1;  ///< this neighbour's alone; -1: all
  bool quiet = false;
};

void bind_replay_options(CLI::App& app, ReplayQuery& query);

/// fast replay FILE: plays a recording (see stencil/runtime/journal.h) and shows, input by input,
/// what a worker's engine saw and decided. Returns an exit code, 1 where the engine decides
/// otherwise now; throws what run_guarded() catches.
int replay_command(const std::vector<std::string>& args, const Models& models);

}  // namespace fast
