#include "bench/support/results.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "fast/report/run_folder.h"

namespace bench {
namespace {

/// "AMD EPYC (family 25, model 17), 2 cores, Linux 6.1": the name alone does not tell generations
/// apart on rented machines.
std::string machine() {
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

}  // namespace

void add_json_option(CLI::App& app, std::string& file) {
  app.add_option("--json", file, "where the figures go, too, with the machine's name")
      ->type_name("FILE");
}

void write_results(const std::string& file, const nlohmann::ordered_json& asked,
                   const nlohmann::ordered_json& rows) {
  if (file.empty()) return;
  nlohmann::ordered_json all = {{"machine", machine()}};
  all.update(asked);
  all["rows"] = rows;
  fast::write_atomically(file, all.dump(1) + "\n");
}

}  // namespace bench
