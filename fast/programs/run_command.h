#pragma once

#include <map>
#include <string>
#include <vector>

#include "fast/train/models.h"

namespace CLI {
class App;
}

namespace fast {

/// The options of fast run.
struct RunQuery {
  std::string topology;
  int restarts = 0;
  std::string out, resume;  ///< folders; empty: none
  bool overwrite = false;
  bool insecure = false;  ///< makes no keys for the run
};

/// Adds the options to `app`, bound to `query`, which must outlive the parsing. Returns the
/// beginnings of each option's values, by flag.
std::map<std::string, std::vector<std::string>> bind_run_options(CLI::App& app, RunQuery& query);

/// fast run: one process of any program for each rank, whose environment has what
/// SessionOptions::from_environment() reads. Returns an exit code; throws what run_guarded()
/// catches.
int run_command(const std::vector<std::string>& args, const Models& models);

}  // namespace fast
