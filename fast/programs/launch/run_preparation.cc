#include "fast/programs/launch/run_preparation.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <random>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "fast/checkpoint/checkpoint.h"
#include "fast/errors.h"
#include "fast/run/atomic_file.h"
#include "fast/run/run_folder.h"

namespace fast {
namespace {

namespace fs = std::filesystem;

constexpr char kCheckpointName[] = "checkpoint.safetensors";

/// The files of an earlier run, by the names that we give.
std::vector<fs::path> earlier_files(const fs::path& root) {
  const RunFolder run(root);
  std::vector<fs::path> candidates = run.means();
  candidates.insert(candidates.end(), {run.summary(), run.page()});
  for (const auto& entry : fs::directory_iterator(root)) {
    const std::optional<int> rank = worker_rank(entry.path());
    if (!rank || !entry.is_directory()) continue;
    for (const fs::path& file :
         {run.metrics(*rank), run.log(*rank), run.worker_model(*rank), run.endpoint(*rank),
          run.checkpoint(*rank), previous_checkpoint(run.checkpoint(*rank)),
          run.worker(*rank) / "life"}) {
      candidates.push_back(file);
    }
  }
  std::erase_if(candidates, [](const fs::path& file) { return !fs::exists(file); });
  return candidates;
}

LockFile taken(const fs::path& folder) {
  make_writable_folder(folder);
  const fs::path file = folder / "lock";
  if (auto lock = LockFile::take(file)) return std::move(*lock);
  throw FileError(fmt::format("cannot use the run folder {}: another run writes to it ({})",
                              folder.string(), LockFile::holder_of(file)),
                  "choose another --out");
}

/// What to do where the run in `folder` has more workers than are to go on with it.
std::string with_all_workers(const fs::path& folder, int rank) {
  const auto quiet = [](stencil::LogLevel, std::string_view) {};
  try {
    const auto checkpoint = Checkpoint::newest(RunFolder(folder).checkpoint(rank), quiet);
    const std::string topology =
        checkpoint ? std::string(stencil::value_of(checkpoint->terms(), "topology")) : "";
    if (!topology.empty() && !topology.starts_with("edges:")) {
      return fmt::format(
          "a run goes on with all of its workers: give --topology {}, or begin "
          "another one in another folder",
          topology);
    }
  } catch (const FileError&) {
    // What is damaged does not tell.
  }
  return "a run goes on with all of its workers: give the topology that it began with. Where that "
         "folder is of another run, move it away";
}

}  // namespace

LockedFolder::LockedFolder(const fs::path& folder, Earlier earlier_run, const std::string& command)
    : lock_(taken(folder)) {
  const std::vector<fs::path> earlier = earlier_files(folder);
  if (earlier_run == Earlier::kResume) {
    // Old endpoint files are removed: nobody listens at their addresses any more.
    std::error_code ignored;
    for (const fs::path& file : earlier) {
      if (file.filename() == "endpoint") fs::remove(file, ignored);
    }
    return;
  }
  if (!earlier.empty() && earlier_run == Earlier::kRefuse) {
    const bool resumable = std::ranges::any_of(
        earlier, [](const fs::path& file) { return file.filename() == kCheckpointName; });
    throw FileError(fmt::format("{} holds a run already ({})", folder.string(),
                                earlier.front().lexically_relative(folder).string()),
                    resumable
                        ? fmt::format("go on with it: {} --resume {}; or choose another --out, "
                                      "or give --overwrite",
                                      command, folder.string())
                        : "choose another --out, or give --overwrite");
  }
  for (const fs::path& file : earlier) {
    std::error_code error;
    if (!fs::remove(file, error)) {
      throw FileError(fmt::format("cannot remove {}: {}", file.string(), error.message()),
                      "choose another --out");
    }
  }
}

std::string run_id_to_resume(const fs::path& folder, int workers) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::optional<int> rank = worker_rank(entry.path());
    if (!rank || *rank < workers || !fs::exists(entry.path() / "metrics.jsonl")) continue;
    throw FileError(
        fmt::format("{} is there, and the topology that is given has ranks from 0 to {}",
                    entry.path().string(), workers - 1),
        with_all_workers(folder, *rank));
  }
  const auto quiet = [](stencil::LogLevel, std::string_view) {};
  for (int rank = 0; rank < workers; ++rank) {
    try {
      const auto checkpoint = Checkpoint::newest(RunFolder(folder).checkpoint(rank), quiet);
      if (checkpoint) return std::string(stencil::value_of(checkpoint->terms(), "run id"));
    } catch (const FileError&) {
      // That worker will report the damage; another worker's checkpoint is enough here.
    }
  }
  throw FileError(fmt::format("{} holds no checkpoint to go on from", folder.string()),
                  "name the folder of a run that was cut off, or begin anew with --overwrite");
}

std::string fresh_run_id() {
  std::random_device random;
  return fmt::format("{:%Y%m%d-%H%M%S}-{}-{:08x}", fmt::localtime(std::time(nullptr)), getpid(),
                     static_cast<unsigned>(random()));
}

std::string absolute_topology(const std::string& spec) {
  constexpr std::string_view kFile = "edges:";
  if (!spec.starts_with(kFile)) return spec;
  return std::string(kFile) + fs::absolute(spec.substr(kFile.size())).string();
}

std::string find_program(const std::string& name) {
  const auto runs = [](const fs::path& file) {
    std::error_code error;
    return fs::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) {
    if (runs(name)) return name;
    throw ConfigError(fmt::format("{} is not a program", name),
                      "name one that is there and may be executed");
  }
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path file = fs::path(folder.empty() ? "." : folder) / name;
    if (runs(file)) return file.string();
  }
  throw ConfigError(fmt::format("there is no program '{}' in PATH", name),
                    fmt::format("write ./{} for one in this folder, or its whole path", name));
}

std::string find_worker_program(const std::string& wish) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (wish.empty() && error) {
    throw ConfigError(fmt::format("cannot tell where fast is: /proc/self/exe: {}", error.message()),
                      "mount /proc, or name the worker with --worker-program");
  }
  const fs::path program = wish.empty() ? self.parent_path() / "fast-worker" : fs::path(wish);
  if (!fs::is_regular_file(program, error) || access(program.c_str(), X_OK) != 0) {
    throw ConfigError(fmt::format("{} is not a program", program.string()),
                      "build fast-worker, or name it with --worker-program");
  }
  return program.string();
}

}  // namespace fast
