#include "fast/programs/simulate_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "fast/errors.h"
#include "fast/programs/cli/options.h"
#include "fast/programs/cli/simulate_options.h"
#include "fast/report/format.h"
#include "stencil/runtime/journal.h"
#include "stencil/sim/simulator.h"

namespace fast {
namespace {

constexpr char kSimulateExamples[] = R"(Examples:
  4,096 workers, each on its own quadratic:
    fast simulate torus:64x64
  Lock step against gossip, one slow worker:
    fast simulate torus:8x8 --slow 5:10 --mode sync
    fast simulate torus:8x8 --slow 5:10 --sweeps 2
  A link that is down for two seconds, and a worker that dies and comes back:
    fast simulate ring:16 --break 3-4:1-3 --kill 7:1 --restart 7:3
  What one of them sees and decides:
    fast simulate ring:16 --record 3:worker-3.journal && fast replay worker-3.journal)";

using stencil::sim::Snapshot;

/// Prints rows as they come: a table, CSV, or (at the end) JSON.
class Printer {
 public:
  explicit Printer(const SimulateQuery& query) : query_(query) {}

  void begin() const {
    if (query_.json) return;
    if (query_.csv) {
      fmt::print(
          "time,steps,objective,consensus_distance,disagreement,mean_drift,sweeps,bytes_sent\n");
      return;
    }
    fmt::print("{:>9}  {:>11}  {:>12}  {:>10}  {:>12}  {:>10}  {:>10}\n", "time (s)", "steps",
               "objective", "consensus", "disagreement", "sweeps", "sent");
  }

  void row(const Snapshot& s) {
    if (query_.json) {
      rows_.push_back({{"time", s.time},
                       {"steps", s.steps},
                       {"objective", s.objective},
                       {"consensus_distance", s.consensus_distance},
                       {"disagreement", s.disagreement},
                       {"mean_drift", s.mean_drift},
                       {"sweeps", s.sweeps},
                       {"bytes_sent", s.bytes}});
    } else if (query_.csv) {
      fmt::print("{},{},{},{},{},{},{},{}\n", s.time, s.steps, s.objective, s.consensus_distance,
                 s.disagreement, s.mean_drift, s.sweeps, s.bytes);
    } else {
      fmt::print("{:>9.3f}  {:>11}  {:>12.6g}  {:>10.3e}  {:>12.4e}  {:>10}  {:>10}\n", s.time,
                 format::count(static_cast<double>(s.steps)), s.objective, s.consensus_distance,
                 s.disagreement, format::count(static_cast<double>(s.sweeps)),
                 format::bytes(static_cast<double>(s.bytes)));
      std::fflush(stdout);
    }
  }

  void note(const std::string& text) {
    if (query_.json) {
      notes_.push_back(text);
    } else if (!query_.csv) {
      fmt::print("{:>9}  {}\n", "", text);
    }
  }

  void end(const stencil::sim::Simulation& simulation, std::optional<bool> settled) const {
    if (!query_.json) return;
    nlohmann::ordered_json out;
    out["topology"] = query_.topology;
    out["workers"] = simulation.size();
    out["objective"] = query_.objective;
    out["mode"] = query_.exchange.mode;
    out["codec"] = query_.exchange.codec;
    out["seed"] = query_.seed;
    if (settled) out["settled"] = *settled;
    out["events"] = notes_;
    out["rows"] = rows_;
    fmt::print("{}\n", out.dump(2));
  }

 private:
  const SimulateQuery& query_;
  nlohmann::ordered_json rows_ = nlohmann::ordered_json::array();
  nlohmann::ordered_json notes_ = nlohmann::ordered_json::array();
};

void write_journal(const stencil::Journal& journal, const std::string& file) {
  const stencil::Bytes bytes = journal.file();
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw FileError("cannot write " + file, "name another file with --record");
}

void run_events(stencil::sim::Simulation& simulation, std::vector<SimulatedEvent>& events,
                double until, Printer& printer) {
  while (!events.empty() && events.front().time <= until) {
    const SimulatedEvent event = events.front();
    events.erase(events.begin());
    simulation.run_until(event.time);
    if (event.restart) {
      simulation.restart(event.rank);
    } else {
      simulation.kill(event.rank);
    }
    printer.note(fmt::format("worker {} {} at {:.3f} s", event.rank,
                             event.restart ? "is started again" : "dies", event.time));
  }
}

}  // namespace

int simulate_command(const std::vector<std::string>& args, const Models& /*models*/) {
  SimulateQuery query;
  CLI::App app("Runs the real exchange with thousands of virtual workers under a virtual clock.",
               "fast simulate");
  set_conventions(app, kSimulateExamples);
  bind_simulate_options(app, query);
  if (const auto code = parse_arguments(app, args)) return *code;
  if (query.json && query.csv) throw ConfigError("--json and --csv at once", "choose one");

  stencil::sim::SimulationConfig config = simulation_config(query);
  const std::map<stencil::Rank, std::string> files = recorded(query, config.topology);
  std::map<stencil::Rank, stencil::Journal> journals;
  config.witness = [&](stencil::Rank rank) -> stencil::Witness* {
    return files.contains(rank) ? &journals[rank] : nullptr;
  };
  std::vector<SimulatedEvent> events = simulated_events(query, config.topology);
  const auto objective = stencil::sim::make_objective(query.objective, config.topology.size(),
                                                      static_cast<std::size_t>(query.dimension),
                                                      query.learning_rate, query.noise, query.seed);
  const auto begin = std::chrono::steady_clock::now();
  stencil::sim::Simulation simulation(config, *objective);
  Printer printer(query);
  if (!query.json && !query.csv) {
    fmt::print("{} virtual workers on {}, {} of {} floats, {}, {}\n\n", simulation.size(),
               query.topology, query.objective, query.dimension, query.exchange.mode,
               query.exchange.codec);
  }
  printer.begin();
  printer.row(simulation.snapshot());
  for (int i = 1; i <= query.rows; ++i) {
    const double until = simulation.end_time() * i / query.rows;
    run_events(simulation, events, until, printer);
    simulation.run_until(until);
    printer.row(simulation.snapshot());
  }
  std::optional<bool> settled;
  if (query.finish) {
    settled = simulation.finish();
    printer.note(*settled ? "settled and frozen" : "frozen at the deadline, not settled");
    printer.row(simulation.snapshot());
  }
  for (const auto& [rank, file] : files) write_journal(journals[rank], file);
  printer.end(simulation, settled);
  if (!query.json && !query.csv) {
    const std::chrono::duration<double> real = std::chrono::steady_clock::now() - begin;
    fmt::print("\n{:.1f} virtual seconds in {:.1f} s\n", simulation.end_time(), real.count());
  }
  return 0;
}

}  // namespace fast
