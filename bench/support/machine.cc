#include "bench/support/machine.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <fstream>
#include <map>
#include <thread>

namespace bench {

std::string describe_machine() {
  std::map<std::string, std::string> facts;  // of the first processor
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line) && !line.empty();) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    facts[line.substr(0, line.find('\t'))] = line.substr(colon + 2);
  }
  const auto fact = [&](const char* name) {
    const auto found = facts.find(name);
    return found == facts.end() ? std::string("unknown") : found->second;
  };
  utsname system{};
  uname(&system);
  return fmt::format("{} (family {}, model {}), {} cores, {} {}", fact("model name"),
                     fact("cpu family"), fact("model"), std::thread::hardware_concurrency(),
                     system.sysname, system.release);
}

}  // namespace bench
