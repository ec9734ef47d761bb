#include "fast/programs/simulate_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "fast/errors.h"
#include "fast/programs/demand.h"
#include "fast/programs/options.h"
#include "stencil/codec/codec.h"
#include "stencil/core/usual_sweeps.h"

namespace fast {
namespace {

using stencil::Rank;

/// Reads numbers and single characters off the front of a text.
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
    if (!CLI::detail::lexical_cast(rest_.substr(0, end), value) || !std::isfinite(value)) fail();
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
  void end() const {
    if (!rest_.empty()) fail();
  }

 private:
  const char* option_;
  const std::string& all_;
  std::string rest_;
  const char* form_;
};

void check_ranges(const SimulateQuery& q) {
  demand(q.dimension >= 1 && q.dimension <= 10'000'000, "dimension", q.dimension,
         "use 1 to 10000000");
  demand(q.learning_rate > 0 && std::isfinite(q.learning_rate), "learning-rate", q.learning_rate,
         "use more than 0");
  demand(q.noise >= 0 && std::isfinite(q.noise), "noise", q.noise, "use 0 or more");
  const double sweeps = q.sweeps.value_or(1);
  demand(sweeps >= 0 && sweeps <= 1000, "sweeps", sweeps, "use 0 to 1000, or auto");
  demand(q.phase_lock >= 0 && q.phase_lock <= 1, "phase-lock", q.phase_lock,
         "use a share of a step, 0 to 1");
  demand(q.linger >= 0 && q.linger <= 1, "linger", q.linger, "use a share of a step, 0 to 1");
  demand(q.window >= 1 && q.window <= 1024, "window", q.window, "use 1 to 1024");
  demand(q.bucket_floats >= 0, "bucket-floats", q.bucket_floats,
         "use 1 or more, or 0 for what suits the model");
  demand(q.steps >= 1 && q.steps <= 100'000'000, "steps", q.steps, "use 1 to 100000000");
  demand(q.rows >= 1 && q.rows <= 1'000'000, "rows", q.rows, "use 1 to 1000000");
  demand(q.step_time > 0 && q.step_time <= 1e5, "step-time", q.step_time, "use 0 to 1e5 s");
  demand(q.jitter >= 0 && q.jitter <= 100, "jitter", q.jitter, "use a share of 0 to 100");
  demand(q.latency >= 0 && q.latency <= 1e5, "latency", q.latency, "use 0 to 1e5 s");
  demand(q.latency_jitter >= 0 && q.latency_jitter <= 1e5, "latency-jitter", q.latency_jitter,
         "use 0 to 1e5 s");
  demand(q.bandwidth >= 0 && std::isfinite(q.bandwidth), "bandwidth", q.bandwidth,
         "use bytes a second, 0 for no limit");
}

}  // namespace

void bind_simulate_options(CLI::App& app, SimulateQuery& q) {
  const auto add = [&](const char* names, auto& value, const char* unit, const char* help,
                       const char* group) {
    app.add_option(names, value, help)
        ->type_name(unit)
        ->group(group)
        ->default_str(fmt::format("{}", value))
        ->take_last();
  };
  const auto repeat = [&](const char* name, std::vector<std::string>& value, const char* unit,
                          const char* help, const char* group) {
    app.add_option(name, value, help)->type_name(unit)->group(group)->allow_extra_args(false);
  };
  constexpr char kWorkers[] = "Workers", kNetwork[] = "Network", kOutput[] = "Output";
  add("topology,--topology", q.topology, "SPEC", "as for fast train", kWorkers);
  add("--objective", q.objective, "NAME",
      "quadratic, logistic, or agreement (random starts, no gradients)", kWorkers);
  add("--dimension", q.dimension, "FLOATS", "size of the model", kWorkers);
  add("--learning-rate,--lr", q.learning_rate, "RATE", "of the gradient steps", kWorkers);
  add("--noise", q.noise, "SIZE", "of the quadratic's gradients", kWorkers);
  add("--mode", q.mode, "MODE", "async, bounded:K or sync", kWorkers);
  add("--codec", q.codec, "NAME", "fp32, fp16, bf16, int8, int4 or topk:F", kWorkers);
  add_number_or_auto(app, "--sweeps", q.sweeps, "begun per step; auto: as for fast train")
      ->type_name("COUNT")
      ->group(kWorkers);
  add("--linger", q.linger, "SHARE", "of a step to wait at most for its sweeps", kWorkers);
  add("--phase-lock", q.phase_lock, "SHARE",
      "of its time to wait at most for neighbours about to end their step", kWorkers);
  app.add_flag("--overlap,!--no-overlap", q.overlap, "sweeps begin in a step's backward pass")
      ->group(kWorkers);
  add("--window", q.window, "BUCKETS", "in flight per sweep", kWorkers);
  add("--bucket-floats", q.bucket_floats, "FLOATS", "size of a bucket; 0: by the model's size",
      kWorkers);
  add("--steps", q.steps, "COUNT", "of a worker of speed 1", kWorkers);
  add("--step-time", q.step_time, "SECONDS", "of a worker of speed 1", kWorkers);
  add("--jitter", q.jitter, "SHARE", "a step takes up to so much longer, at random", kWorkers);
  repeat("--slow", q.slow, "RANK:FACTOR", "stretch that worker's steps", kWorkers);
  repeat("--kill", q.kills, "RANK:TIME", "that worker dies then", kWorkers);
  repeat("--restart", q.restarts, "RANK:TIME", "and is started anew then", kWorkers);
  add("--seed", q.seed, "NUMBER", "the same seed gives the same output", kWorkers);
  add("--latency", q.latency, "SECONDS", "one way", kNetwork);
  add("--latency-jitter", q.latency_jitter, "SECONDS", "up to so much more, at random", kNetwork);
  add("--bandwidth", q.bandwidth, "BYTES/S", "of each link and direction; 0: unlimited", kNetwork);
  repeat("--link", q.links, "A-B:LATENCY[,BANDWIDTH]", "one edge that differs", kNetwork);
  repeat("--break", q.breaks, "A-B:FROM[-TO]", "one edge carries nothing then", kNetwork);
  add("--rows", q.rows, "COUNT", "lines of the table", kOutput);
  app.add_flag("--finish", q.finish, "end as a real run does: settle, then freeze")->group(kOutput);
  app.add_flag("--json", q.json, "for programs")->group(kOutput);
  app.add_flag("--csv", q.csv, "for spreadsheets")->group(kOutput);
}

stencil::sim::SimulationConfig simulation_config(const SimulateQuery& q) {
  check_ranges(q);
  stencil::sim::SimulationConfig config;
  config.topology = stencil::Topology::parse(q.topology);
  config.mode = stencil::Mode::parse(q.mode);
  config.codec = stencil::parse_codec(q.codec);
  stencil::check_codec(config.codec, config.mode);
  const double sweeps = q.sweeps.value_or(stencil::usual_sweeps(config.topology));
  config.sweeps_per_mille = static_cast<std::uint32_t>(std::lround(sweeps * 1000));
  config.linger = q.linger;
  config.phase_lock = q.phase_lock;
  config.overlap = q.overlap;
  config.window = static_cast<std::uint32_t>(q.window);
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
    demand(config.slow[rank] >= 1, "slow", config.slow[rank], "use a factor of 1 or more");
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
