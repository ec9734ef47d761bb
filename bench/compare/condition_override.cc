#include "bench/compare/condition_override.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <set>

#include "fast/errors.h"

namespace fast::compare {
namespace {

std::pair<int, double> slow_worker(const std::string& text) {
  int rank = -1;
  double factor = 0;
  const char* const end = text.data() + text.size();
  const auto [colon, bad_rank] = std::from_chars(text.data(), end, rank);
  if (bad_rank == std::errc() && colon != end && *colon == ':') {
    const auto [rest, bad_factor] = std::from_chars(colon + 1, end, factor);
    if (bad_factor == std::errc() && rest == end) return {rank, factor};
  }
  throw ConfigError("--slow " + text + " is no worker and factor",
                    "write RANK:FACTOR, e.g. --slow 1:4");
}

std::string described(const Condition& c) {
  std::vector<std::string> parts;
  for (const auto& [rank, factor] : c.slow) {
    parts.push_back(fmt::format("worker {} {}x slower", rank, factor));
  }
  if (c.jitter > 0) parts.push_back(fmt::format("jitter {}", c.jitter));
  if (c.link_mbit > 0) parts.push_back(fmt::format("{} Mbit/s", c.link_mbit));
  if (c.partition != "iid") parts.push_back(c.partition);
  return parts.empty() ? "uniform" : fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

void add_options(CLI::App& app, ConditionOverride& wanted) {
  const char* const group = "Instead of the spec's conditions";
  const auto one = [&](const char* name, auto& value, const char* unit, const char* help) {
    app.add_option(name, value, help)->type_name(unit)->group(group);
  };
  one("--slow", wanted.slow, "RANK:FACTOR", "stretch that worker's steps (repeatable)");
  one("--jitter", wanted.jitter, "SHARE", "stretch each step at random, by up to this share");
  one("--link", wanted.link_mbit, "MBIT",
      "what each worker can send and receive per second; real time: as root, by network "
      "namespaces");
  one("--topology", wanted.topology, "SPEC", "who is whose neighbour, and how many there are");
  one("--partition", wanted.partition, "SPEC", "iid | dirichlet:ALPHA | by-label");
}

Spec under(const Spec& spec, const ConditionOverride& wanted) {
  Condition c = spec.cells.front().condition;
  c.slow.clear();
  c.away.clear();
  c.jitter = wanted.jitter.value_or(0);
  c.link_mbit = wanted.link_mbit.value_or(0);
  c.topology = wanted.topology.value_or(c.topology);
  c.partition = wanted.partition.value_or(c.partition);
  for (const std::string& text : wanted.slow) c.slow.insert(slow_worker(text));
  if (const auto flaw = flaw_of(c)) {
    const std::string option = flaw->key == "link_mbit" ? "link" : std::string(flaw->key);
    throw ConfigError(fmt::format("--{} {}", option, flaw->what), flaw->remedy);
  }
  c.name = described(c);
  Spec out = spec;
  out.cells.clear();
  std::set<std::string> known;
  for (Cell cell : spec.cells) {
    cell.condition = c;
    choose_sweeps(cell.strategy, c.topology);
    if (known.insert(hash(cell)).second) out.cells.push_back(cell);
  }
  return out;
}

}  // namespace fast::compare
