#pragma once

#include <string>
#include <vector>

#include "fast/train/models.h"

namespace CLI {
class App;
}

namespace fast {

/// The options of fast keys.
struct KeysQuery {
  std::string out;
  int workers = 0;
};

void bind_keys_options(CLI::App& app, KeysQuery& query);

/// fast keys: makes a pair of keys for each rank, in a folder. Never overwrites a file. Returns an
/// exit code; throws what run_guarded() catches.
int keys_command(const std::vector<std::string>& args, const Models& models);

}  // namespace fast
