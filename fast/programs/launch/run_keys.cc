#include "fast/programs/launch/run_keys.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "fast/errors.h"
#include "fast/options/key_files.h"
#include "fast/options/security.h"
#include "fast/programs/new_keys.h"
#include "fast/run/run_folder.h"

namespace fast {
namespace {

namespace fs = std::filesystem;

constexpr char kName[] = "run-keys";
constexpr char kElsewhere[] =
    "give --keys with a folder of 'fast keys' elsewhere, or --insecure where nobody else works";

bool whole(const fs::path& folder, int workers) {
  try {
    for (int rank = 0; rank < workers; ++rank) {
      (void)read_keys(KeyFiles::in_folder(folder.string(), rank), rank, {});
    }
    return true;
  } catch (const ConfigError&) {
    return false;
  }
}

[[noreturn]] void cannot(const fs::path& folder, const std::string& why) {
  throw FileError(fmt::format("cannot make the run's keys in {}: {}", folder.string(), why),
                  kElsewhere);
}

fs::path temporary_folder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) cannot("the folder for temporary files", error.message());
  std::string name = (parent / "fast-run-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) cannot(parent, std::generic_category().message(errno));
  return name;
}

}  // namespace

RunKeys::RunKeys(const fs::path& run, int workers, bool keep)
    : temporary_(run.empty() ? temporary_folder() : fs::path()) {
  const fs::path& parent = run.empty() ? temporary_ : run;
  folder_ = parent / kName;
  if (keep && whole(folder_, workers)) return;
  try {
    std::error_code error;
    fs::remove_all(folder_, error);
    if (!error && ::mkdir(folder_.c_str(), S_IRWXU) != 0) {
      error.assign(errno, std::generic_category());
    }
    if (error) cannot(folder_, error.message());
    write_new_keys(folder_.string(), workers);
    (void)read_keys(KeyFiles::in_folder(folder_.string(), 0), 0, {});
  } catch (const ConfigError& error) {
    std::error_code ignored;
    fs::remove_all(temporary_.empty() ? folder_ : temporary_, ignored);
    cannot(folder_, error.what());
  } catch (...) {
    std::error_code ignored;
    if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
    throw;
  }
}

RunKeys::~RunKeys() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

bool needs_run_keys(const SessionOptions& options, int workers) {
  return workers > 1 && takes_run_keys(options);
}

void check_run_keys(const SessionOptions& options, int workers, const fs::path& run) {
  if (!options.run_keys.empty() || !needs_run_keys(options, workers)) return;
  const fs::path config = RunFolder(run).config();
  std::error_code none;
  if (!fs::exists(config, none) || !fs::exists(run / kName, none)) return;
  throw ConfigError(
      fmt::format("the workers of the run in {} hear nobody without its keys, and none are given",
                  run.string()),
      fmt::format("start this one by the command at the top of {}, with --run-keys {}, or give "
                  "another folder (--out)",
                  config.string(), (run / kName).string()));
}

}  // namespace fast
