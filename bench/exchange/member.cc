#include "bench/exchange/member.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/exchange/meeting.h"

namespace fast::exchange_bench {
namespace {

std::string file_of(const Site& site) {
  return "result-" + std::to_string(site.rank) + ".json";
}

}  // namespace

void run_member(const Site& site, Contender& contender) {
  const Measured m = contender.measure();
  const nlohmann::json out = {{"seconds", m.seconds},
                              {"cpu_seconds", m.cpu_seconds},
                              {"bytes", m.bytes},
                              {"memory_bytes", m.memory_bytes},
                              {"stalls", m.stalls}};
  leave_note(site.meeting, file_of(site), out.dump());
}

Measured read_result(const Site& site) {
  std::ifstream in(site.meeting / file_of(site));
  const nlohmann::json out = nlohmann::json::parse(in);
  return {.seconds = out.at("seconds"),
          .cpu_seconds = out.at("cpu_seconds"),
          .bytes = out.at("bytes"),
          .memory_bytes = out.at("memory_bytes"),
          .stalls = out.at("stalls").get<std::vector<double>>()};
}

}  // namespace fast::exchange_bench
