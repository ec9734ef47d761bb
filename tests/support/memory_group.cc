#include "tests/support/memory_group.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace fast::testing {
namespace {

bool write_to(const std::string& file, const std::string& text) {
  std::ofstream out(file);
  out << text;
  return static_cast<bool>(out.flush());
}

/// The number that follows `name`, or the first one where that is empty.
std::uint64_t number_in(const std::string& file, const std::string& name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string word;
    if (!name.empty() && !(words >> word && word == name)) continue;
    std::uint64_t number = 0;
    if (words >> number) return number;
  }
  return 0;
}

/// Where file systems of this type are mounted: "cgroup2", or "cgroup" with this option.
std::vector<std::string> mounts(const std::string& type, const std::string& option) {
  std::vector<std::string> found;
  std::ifstream in("/proc/mounts");
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string what, where, kind, options;
    words >> what >> where >> kind >> options;
    const std::string listed = "," + options + ",";
    const bool has = option.empty() || listed.find("," + option + ",") != std::string::npos;
    if (kind == type && has) found.push_back(where);
  }
  return found;
}

}  // namespace

std::unique_ptr<MemoryGroup> MemoryGroup::make(const std::string& name, std::string& why) {
  const std::string leaf = "/" + name + "-" + std::to_string(::getpid());
  why = "no cgroup with a memory controller is mounted";
  for (const bool second : {true, false}) {
    for (const std::string& root : mounts(second ? "cgroup2" : "cgroup", second ? "" : "memory")) {
      if (second) (void)write_to(root + "/cgroup.subtree_control", "+memory");
      const std::string folder = root + leaf;
      std::error_code error;
      if (!std::filesystem::create_directory(folder, error)) {
        why = folder + " cannot be made: " + error.message();
        continue;
      }
      std::unique_ptr<MemoryGroup> group(new MemoryGroup(folder, second));
      if (group->limit(std::size_t{1} << 40)) return group;
      why = root + " takes no limit of memory: " + std::strerror(errno);
    }
  }
  return nullptr;
}

MemoryGroup::~MemoryGroup() {
  ::rmdir(folder_.c_str());
}

bool MemoryGroup::limit(std::size_t bytes) const {
  const std::string text = std::to_string(bytes);
  if (second_) {
    (void)write_to(folder_ + "/memory.swap.max", "0");
    return std::filesystem::exists(folder_ + "/memory.max") &&
           write_to(folder_ + "/memory.max", text);
  }
  const bool set = std::filesystem::exists(folder_ + "/memory.limit_in_bytes") &&
                   write_to(folder_ + "/memory.limit_in_bytes", text);
  const std::string with_swap = folder_ + "/memory.memsw.limit_in_bytes";
  if (std::filesystem::exists(with_swap)) (void)write_to(with_swap, text);
  return set;
}

bool MemoryGroup::enter() const {
  return write_to(folder_ + "/cgroup.procs", std::to_string(::getpid()));
}

std::size_t MemoryGroup::peak() const {
  return number_in(folder_ + (second_ ? "/memory.peak" : "/memory.max_usage_in_bytes"), "");
}

std::uint64_t MemoryGroup::killed() const {
  return number_in(folder_ + (second_ ? "/memory.events" : "/memory.oom_control"), "oom_kill");
}

}  // namespace fast::testing
