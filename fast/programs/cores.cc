#include "fast/programs/cores.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace fast {
namespace {

namespace fs = std::filesystem;

/// Parses "200000 100000", or "max 100000" for no quota.
std::optional<double> quota_of_version_2(const fs::path& group) {
  std::ifstream in(group / "cpu.max");
  double quota = 0, period = 0;
  if (!(in >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

std::optional<double> quota_of_version_1(const fs::path& group) {
  std::ifstream quotas(group / "cpu.cfs_quota_us"), periods(group / "cpu.cfs_period_us");
  double quota = 0, period = 0;
  if (!(quotas >> quota) || !(periods >> period) || quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

/// The least quota of `group` and its parents up to `root`. In a container the path may be that of
/// the host, of which only the root exists here.
template <typename Read>
void lessen(std::optional<double>& least, const fs::path& root, fs::path group, Read read) {
  group = group.relative_path();
  while (true) {
    if (const auto quota = read(root / group)) {
      least = std::min(least.value_or(*quota), *quota);
    }
    if (group.empty()) return;
    group = group.parent_path();
  }
}

}  // namespace

int quota_of_cores(const fs::path& groups, const fs::path& self) {
  std::optional<double> least;
  std::ifstream in(self);
  // Lines ID:CONTROLLERS:PATH; version 2 has one, with neither number nor controllers.
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const fs::path path = line.substr(second + 1);
    if (controllers.empty()) lessen(least, groups, path, quota_of_version_2);
    std::istringstream names(controllers);
    for (std::string name; std::getline(names, name, ',');) {
      if (name != "cpu") continue;
      for (const std::string& mounted : {name, controllers}) {
        lessen(least, groups / mounted, path, quota_of_version_1);
      }
    }
  }
  return least ? std::max(1, static_cast<int>(std::ceil(*least - 1e-9))) : 0;
}

int available_cores() {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int quota = quota_of_cores("/sys/fs/cgroup", "/proc/self/cgroup");
  return quota == 0 ? cores : std::min(cores, quota);
}

std::map<std::string, std::string> thread_variables(int threads) {
  std::map<std::string, std::string> out;
  for (const char* const name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"}) {
    out[name] = std::to_string(threads);
  }
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) out["OMP_WAIT_POLICY"] = "passive";
  return out;
}

void keep_threads_from_spinning(int threads) {
  if (threads <= 1 || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  if (words.empty()) return;
  for (const auto& [name, value] : thread_variables(threads)) {
    ::setenv(name.c_str(), value.c_str(), 0);
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv("/proc/self/exe", arguments.data());
}

}  // namespace fast
