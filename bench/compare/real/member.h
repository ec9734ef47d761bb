#pragma once

#include <filesystem>
#include <string>

#include "bench/compare/split.h"

namespace fast::compare {

/// The options that the launcher passes to one process of a real run.
struct MemberOptions {
  std::filesystem::path run;  ///< the run folder; its cell.json holds the cell
  int rank = 0;               ///< the number of workers: the parameter server
  std::string run_id;
  std::string host = "127.0.0.1";
  DataPlaces places;
  int threads = 1;
  double deadline = 60;
};

/// One process of a real run, from data to saved model. Returns its exit code.
int run_member(const MemberOptions& options);

}  // namespace fast::compare
