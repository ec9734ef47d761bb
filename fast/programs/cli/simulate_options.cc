#include "fast/programs/cli/simulate_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "fast/errors.h"
#include "fast/programs/cli/field_checks.h"
#include "fast/programs/cli/option_binder.h"
#include "stencil/core/topologies/kinds.h"
#include "stencil/runtime/exchange_option_fields.h"

namespace fast {
namespace {

using stencil::Rank;

bool read_number(std::string_view text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// Reads numbers and single characters from the front of a text.
class Reader {
 public:
  Reader(const char* option, const std::string& text, const char* form)
      : option_(option), all_(text), rest_(text), form_(form) {}

  [[noreturn]] void fail() const {
    throw ConfigError(fmt::format("--{} {}: not of the form {}", option_, all_, form_),
                      "fast simulate --help shows an example");
  }
  double number() {
    const auto end = std::min(rest_.find_first_not_of("0123456789.eE+"), rest_.size());
    double value = 0;
    if (!read_number(std::string_view(rest_).substr(0, end), value) || !std::isfinite(value))
      fail();
    rest_.erase(0, end);
    return value;
  }
  Rank rank(const stencil::Topology& topology) {
    const double value = number();
    if (value < 0 || value >= topology.size() || value != std::floor(value)) {
      throw ConfigError(
          fmt::format("--{} {}: rank {} is not on {}", option_, all_, value, topology.spec()),
          fmt::format("ranks are 0 to {}", topology.size() - 1));
    }
    return static_cast<Rank>(value);
  }
  bool accept(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.erase(0, 1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail();
  }
  std::pair<Rank, Rank> edge(const stencil::Topology& topology) {
    const Rank a = rank(topology);
    expect('-');
    const Rank b = rank(topology);
    if (a == b || !topology.are_neighbours(a, b)) {
      throw ConfigError(fmt::format("--{} {}: {} and {} are no neighbours on {}", option_, all_, a,
                                    b, topology.spec()),
                        fmt::format("'fast topology {}' shows who is", topology.spec()));
    }
    return std::minmax(a, b);
  }
  [[nodiscard]] const std::string& rest() const { return rest_; }
  void end() const {
    if (!rest_.empty()) fail();
  }

 private:
  const char* option_;
  const std::string& all_;
  std::string rest_;
  const char* form_;
};

using stencil::kNotNegative;
using stencil::kPositive;
using stencil::OptionField;
using stencil::Range;

constexpr Range kSeconds{.least = 0, .most = 1e5};
constexpr char kSecondsRemedy[] = "use 0 to 1e5 s";

/// Passes on those options of the exchange that the simulator uses.
template <typename Visitor>
class SimulatedOnly {
 public:
  explicit SimulatedOnly(Visitor& visit) : visit_(visit) {}
  template <typename T, typename Value>
  void operator()(const OptionField<T>& field, Value& value) {
    if (field.simulated) visit_(field, value);
  }

 private:
  Visitor& visit_;
};

template <typename Visitor>
void visit_workers(SimulateQuery& q, Visitor& visit) {
  visit.group("Workers");
  visit(OptionField<std::string>{.key = "objective",
                                 .unit = "NAME",
                                 .help = "quadratic, logistic, or agreement (random starts, no "
                                         "gradients)"},
        q.objective);
  visit(OptionField<int>{.key = "dimension",
                         .unit = "FLOATS",
                         .help = "size of the model",
                         .range = {.least = 1, .most = 10'000'000},
                         .remedy = "use 1 to 10000000"},
        q.dimension);
  visit(OptionField<double>{.key = "learning_rate",
                            .unit = "RATE",
                            .help = "rate of the gradient steps",
                            .range = kPositive,
                            .remedy = "use more than 0",
                            .also = "--lr"},
        q.learning_rate);
  visit(OptionField<double>{.key = "noise",
                            .unit = "SIZE",
                            .help = "noise of the quadratic's gradients",
                            .range = kNotNegative,
                            .remedy = "use 0 or more"},
        q.noise);
  visit(OptionField<int>{.key = "steps",
                         .unit = "COUNT",
                         .help = "steps of a worker of speed 1",
                         .range = {.least = 1, .most = 100'000'000},
                         .remedy = "use 1 to 100000000"},
        q.steps);
  visit(OptionField<double>{.key = "step_time",
                            .unit = "SECONDS",
                            .help = "time of a step of a worker of speed 1",
                            .range = {.least = 0, .most = 1e5, .above = true},
                            .remedy = "use more than 0, up to 1e5 s"},
        q.step_time);
  visit(OptionField<double>{.key = "jitter",
                            .unit = "SHARE",
                            .help = "a step takes up to this share longer, at random",
                            .range = {.least = 0, .most = 100},
                            .remedy = "use a share of 0 to 100"},
        q.jitter);
  visit(
      OptionField<std::uint64_t>{
          .key = "seed", .unit = "NUMBER", .help = "the same seed gives the same output"},
      q.seed);

  visit.group("How they exchange");
  SimulatedOnly<Visitor> simulated(visit);
  visit_fields(q.exchange, simulated);
  visit(OptionField<int>{.key = "bucket_floats",
                         .unit = "FLOATS",
                         .help = "size of a bucket; 0: as bucket-kib says",
                         .range = {.least = 0, .most = 1 << 24},
                         .remedy = "use 1 or more, or 0 for what suits the model"},
        q.bucket_floats);
}

template <typename Visitor>
void visit_network(SimulateQuery& q, Visitor& visit) {
  visit.group("Network");
  visit(OptionField<double>{.key = "latency",
                            .unit = "SECONDS",
                            .help = "one way",
                            .range = kSeconds,
                            .remedy = kSecondsRemedy},
        q.latency);
  visit(OptionField<double>{.key = "latency_jitter",
                            .unit = "SECONDS",
                            .help = "up to this much more latency, at random",
                            .range = kSeconds,
                            .remedy = kSecondsRemedy},
        q.latency_jitter);
  visit(OptionField<double>{.key = "bandwidth",
                            .unit = "BYTES/S",
                            .help = "rate of each link and direction; 0: unlimited",
                            .range = kNotNegative,
                            .remedy = "use bytes a second, 0 for no limit"},
        q.bandwidth);

  visit.group("Output");
  visit(OptionField<int>{.key = "rows",
                         .unit = "COUNT",
                         .help = "lines of the table",
                         .range = {.least = 1, .most = 1'000'000},
                         .remedy = "use 1 to 1000000"},
        q.rows);
  visit(OptionField<bool>{.key = "finish", .help = "end as a real run does: settle, then freeze"},
        q.finish);
  visit(OptionField<bool>{.key = "json", .help = "print JSON, for programs"}, q.json);
  visit(OptionField<bool>{.key = "csv", .help = "print CSV, for spreadsheets"}, q.csv);
}

void check_ranges(const SimulateQuery& query) {
  SimulateQuery copy = query;
  FieldChecks checks;
  visit_workers(copy, checks);
  visit_network(copy, checks);
  query.exchange.validate(stencil::as_flag);
}

}  // namespace

std::map<std::string, std::vector<std::string>> bind_simulate_options(CLI::App& app,
                                                                      SimulateQuery& q) {
  const auto repeat = [&](const char* name, std::vector<std::string>& value, const char* unit,
                          const char* help, const char* group) {
    app.add_option(name, value, help)->type_name(unit)->group(group)->allow_extra_args(false);
  };
  app.add_option("topology,--topology", q.topology, stencil::topology_forms())
      ->type_name("SPEC")
      ->default_str(q.topology)
      ->take_last();
  OptionBinder binder(app, OptionBinder::Environment::kIgnored);
  visit_workers(q, binder);
  repeat("--slow", q.slow, "RANK:FACTOR", "stretch this worker's steps", "Workers");
  repeat("--kill", q.kills, "RANK:TIME", "this worker dies at that time", "Workers");
  repeat("--restart", q.restarts, "RANK:TIME", "and starts again at that time", "Workers");
  visit_network(q, binder);
  repeat("--link", q.links, "A-B:LATENCY[,BANDWIDTH]", "an edge with other properties", "Network");
  repeat("--break", q.breaks, "A-B:FROM[-TO]", "an edge carries nothing in that time", "Network");
  repeat("--record", q.records, "RANK:FILE", "record this worker, for fast replay", "Output");
  auto choices = binder.choices();
  choices["--topology"] = stencil::topology_choices();
  return choices;
}

stencil::sim::SimulationConfig simulation_config(const SimulateQuery& q) {
  check_ranges(q);
  stencil::sim::SimulationConfig config;
  config.topology = stencil::Topology::parse(q.topology);
  config.exchange = q.exchange;
  config.bucket_floats = static_cast<std::size_t>(q.bucket_floats);
  config.seed = q.seed;
  config.step_seconds = q.step_time;
  config.step_jitter = q.jitter;
  config.steps = static_cast<std::uint64_t>(q.steps);
  config.link = {q.latency, q.latency_jitter, q.bandwidth};
  config.finish = q.finish;
  for (const std::string& text : q.slow) {
    Reader in("slow", text, "RANK:FACTOR");
    const Rank rank = in.rank(config.topology);
    in.expect(':');
    config.slow[rank] = in.number();
    in.end();
    if (config.slow[rank] < 1) {
      throw ConfigError(fmt::format("--slow {} is out of range", config.slow[rank]),
                        "use a factor of 1 or more");
    }
  }
  for (const std::string& text : q.links) {
    Reader in("link", text, "A-B:LATENCY[,BANDWIDTH]");
    const auto edge = in.edge(config.topology);
    in.expect(':');
    stencil::sim::LinkModel link = config.link;
    link.latency = in.number();
    if (in.accept(',')) link.bandwidth = in.number();
    in.end();
    config.links[edge] = link;
  }
  for (const std::string& text : q.breaks) {
    Reader in("break", text, "A-B:FROM[-TO]");
    const auto [a, b] = in.edge(config.topology);
    in.expect(':');
    const double from = in.number();
    const double to = in.accept('-') ? in.number() : -1;
    in.end();
    if (to >= 0 && to <= from) in.fail();
    config.outages.push_back({a, b, from, to});
  }
  return config;
}

std::map<Rank, std::string> recorded(const SimulateQuery& q, const stencil::Topology& topology) {
  std::map<Rank, std::string> files;
  for (const std::string& text : q.records) {
    Reader in("record", text, "RANK:FILE");
    const Rank rank = in.rank(topology);
    in.expect(':');
    files[rank] = in.rest();
    if (files[rank].empty()) in.fail();
  }
  return files;
}

std::vector<SimulatedEvent> simulated_events(const SimulateQuery& q,
                                             const stencil::Topology& topology) {
  std::vector<SimulatedEvent> events;
  const auto read = [&](const char* option, const std::vector<std::string>& texts, bool restart) {
    for (const std::string& text : texts) {
      Reader in(option, text, "RANK:TIME");
      const Rank rank = in.rank(topology);
      in.expect(':');
      events.push_back({in.number(), rank, restart});
      in.end();
    }
  };
  read("kill", q.kills, false);
  read("restart", q.restarts, true);
  std::stable_sort(
      events.begin(), events.end(),
      [](const SimulatedEvent& a, const SimulatedEvent& b) { return a.time < b.time; });
  std::vector<bool> dead(static_cast<std::size_t>(topology.size()));
  for (const SimulatedEvent& event : events) {
    if (dead[event.rank] != event.restart) {
      throw ConfigError(fmt::format("worker {} cannot {} at {} s", event.rank,
                                    event.restart ? "be started again" : "die", event.time),
                        "kill it first, and once until it is started again");
    }
    dead[event.rank] = !event.restart;
  }
  return events;
}

}  // namespace fast
