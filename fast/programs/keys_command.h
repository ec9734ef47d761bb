#pragma once

#include <string>
#include <vector>

#include "fast/train/models.h"

namespace CLI {
class App;
}

namespace fast {

/// What fast keys was asked for.
struct KeysQuery {
  std::string out;
  int workers = 0;
};

void bind_keys_options(CLI::App& app, KeysQuery& query);

/// fast keys: a pair of keys for each rank, in a folder. Never writes over a file. Returns an exit
/// code; throws what run_guarded() understands.
int keys_command(const std::vector<std::string>& args, const Models& models);

}  // namespace fast
