#include "fast/programs/cli/rank.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>

#include "fast/errors.h"

namespace fast {
namespace {

std::optional<int> number(std::string_view text) {
  int value = -1;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::string> read_environment(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

int detect_rank(const Environment& environment, const std::string& host) {
  for (const char* const variable : {"SLURM_PROCID", "OMPI_COMM_WORLD_RANK"}) {
    const std::optional<std::string> text = environment(variable);
    if (!text) continue;
    if (const std::optional<int> rank = number(*text)) return *rank;
    throw ConfigError(fmt::format("{}={} is no rank", variable, *text), "say --rank RANK");
  }
  const std::string label = host.substr(0, host.find('.'));
  if (const auto dash = label.rfind('-'); dash != std::string::npos) {
    if (const std::optional<int> rank = number(std::string_view(label).substr(dash + 1))) {
      return *rank;
    }
  }
  throw ConfigError(
      fmt::format("no rank: neither --rank, SLURM_PROCID nor OMPI_COMM_WORLD_RANK is given, and "
                  "the host name '{}' does not end in -NUMBER",
                  host),
      "say --rank RANK");
}

}  // namespace fast
