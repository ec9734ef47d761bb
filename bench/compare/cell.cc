#include "bench/compare/cell.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <cmath>
#include <utility>

#include "bench/compare/cell_json.h"
#include "stencil/core/topology.h"
#include "stencil/runtime/exchange_option_fields.h"

namespace fast::compare {

// The fields that determine a cell. Names and fields that learning does not depend on are left out.
FAST_JSON(Job, model, data, examples, validation, epochs, batch, optimizer, momentum, nesterov,
          weight_decay, schedule, warmup)
FAST_JSON(Condition, topology, partition, slow, jitter, link_mbit)
FAST_JSON(Absence, rank, from, to)
FAST_JSON(Clockwork, step_seconds, latency, rate_mbit)

namespace {

/// Leaves out options with the value that held before they existed, so that a new option changes no
/// earlier cell.
json exchange_json(const stencil::ExchangeOptions& options) {
  json out = json::object();
  const auto write = [&out](const auto& field, const auto& value) {
    if (value != field.before) out[std::string(field.key)] = value;
  };
  visit_fields(options, write);
  return out;
}

constexpr std::pair<Absence::Kind, const char*> kAbsences[] = {{Absence::Kind::kFrozen, "frozen"},
                                                               {Absence::Kind::kDead, "dead"}};

/// Leaves out absences where there are none, as above.
json condition_json(const Condition& condition) {
  json out = condition;
  for (const auto& [kind, key] : kAbsences) {
    for (const Absence& one : condition.away) {
      if (one.kind == kind) out[key].push_back(one);
    }
  }
  return out;
}

Condition condition_from_json(const json& from) {
  auto condition = from.get<Condition>();
  for (const auto& [kind, key] : kAbsences) {
    for (const json& one : from.value(key, json::array())) {
      condition.away.push_back(one.get<Absence>());
      condition.away.back().kind = kind;
    }
  }
  return condition;
}

}  // namespace

json describe(const Cell& cell) {
  const Strategy& s = cell.strategy;
  json out = {{"job", cell.job},
              {"condition", condition_json(cell.condition)},
              {"strategy",
               {{"name", s.name},
                {"learning_rate", s.learning_rate},
                {"exchange", exchange_json(s.exchange)},
                {"buffers", s.buffers},
                {"momentum_correction", s.momentum_correction}}},
              {"seed", cell.seed},
              {"time", name(cell.time)},
              {"tuning", cell.tuning}};
  if (cell.time == TimeKind::kStandIn) {
    out["clockwork"] = {{"step_seconds", cell.clockwork.step_seconds}};
  }
  if (cell.time == TimeKind::kVirtual) out["clockwork"] = cell.clockwork;
  return out;
}

std::string_view name(TimeKind kind) {
  switch (kind) {
    case TimeKind::kReal:
      return "real";
    case TimeKind::kVirtual:
      return "virtual";
    case TimeKind::kStandIn:
      return "stand-in";
  }
  return "?";
}

std::optional<TimeKind> parse_time_kind(std::string_view text) {
  for (const TimeKind kind : {TimeKind::kReal, TimeKind::kVirtual, TimeKind::kStandIn}) {
    if (text == name(kind)) return kind;
  }
  return std::nullopt;
}

int Cell::workers() const {
  return strategy.name == "single" ? 1 : stencil::Topology::parse(condition.topology).size();
}

std::uint64_t Cell::budget(std::size_t examples) const {
  return static_cast<std::uint64_t>(std::llround(job.epochs * static_cast<double>(examples)));
}

std::string to_json(const Cell& cell) {
  return describe(cell).dump(2);
}

std::string hash(const Cell& cell) {
  const std::string text = describe(cell).dump();
  return fmt::format("{:016x}", XXH64(text.data(), text.size(), 0));
}

std::string title(const Cell& cell) {
  return fmt::format("{} on {}, {}, rate {}, seed {}", cell.strategy.name, cell.condition.topology,
                     cell.condition.name, cell.strategy.learning_rate, cell.seed);
}

Cell cell_from_json(const std::string& text) {
  const json all = json::parse(text);
  Cell cell;
  cell.job = all.at("job").get<Job>();
  cell.condition = condition_from_json(all.at("condition"));
  const json& s = all.at("strategy");
  cell.strategy = {.name = s.at("name"),
                   .learning_rate = s.at("learning_rate"),
                   .exchange = stencil::bare_exchange(),
                   .buffers = s.at("buffers"),
                   .momentum_correction = s.at("momentum_correction")};
  s.at("exchange").get_to(cell.strategy.exchange);
  cell.seed = all.at("seed");
  cell.time = parse_time_kind(all.at("time").get<std::string>()).value();
  cell.tuning = all.at("tuning");
  if (all.contains("clockwork")) cell.clockwork = all.at("clockwork").get<Clockwork>();
  return cell;
}

}  // namespace fast::compare
