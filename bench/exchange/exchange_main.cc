// exchange_bench: what it costs to exchange a model with neighbours, beside what others do.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/exchange/member.h"
#include "bench/exchange/stopwatch.h"
#include "bench/support/results.h"
#include "fast/errors.h"
#include "fast/exit_codes.h"
#include "fast/programs/cli/options.h"
#include "fast/programs/launch/launcher.h"
#include "fast/run/atomic_file.h"

namespace fast::exchange_bench {
namespace {

namespace fs = std::filesystem;

constexpr char kExamples[] = R"(A round is a whole model exchanged by every worker:
  memcpy           copied inside each process; no exchange is faster
  sockets          the bytes of a sweep over bare TCP connections, on a ring
  fast, -tcp       a sweep: averaged with one neighbour, in the background, without a pause; in
                   shared memory, and over tcp
  fast-paced, ..   the same, but one sweep a step (--step): what a training thread feels
  gloo-allreduce   averaged over all (c10d, as DistributedDataParallel does it)
  mpi-neighbours   MPI_Neighbor_allgather, averaged with all neighbours; shared memory, and tcp
  mpi-allreduce    MPI_Allreduce; shared memory, and tcp
CPU is of all processes together; of FAST with a boundary for each round. "Each edge once": until
every pair of neighbours has averaged.

Examples:
  exchange_bench
  exchange_bench --workers 4 --floats 11200000 --contenders fast,gloo-allreduce --json out.json
  Many workers, each with half a second of computing between boundaries:
    exchange_bench -w 4,16,36,64 -f 270000 -c fast-paced,fast-tcp-paced --step 500 --seconds 20)";

struct Kind {
  std::string name;
  std::function<std::unique_ptr<Contender>(const Site&)> make;  ///< empty: run by exchange_mpi
  std::vector<std::string> mpi;                                 ///< options of mpirun
};

std::vector<Kind> kinds() {
  return {
      {"memcpy", make_memory, {}},
      {"sockets", make_sockets, {}},
      {"fast", make_fast, {}},
      {"fast-tcp", make_fast_tcp, {}},
      {"fast-tcp-keys", make_fast_tcp_keys, {}},
      {"fast-zmq", make_fast_zmq, {}},
      {"fast-zmq-keys", make_fast_zmq_keys, {}},
      {"fast-paced", make_fast_paced, {}},
      {"fast-tcp-paced", make_fast_tcp_paced, {}},
#ifdef FAST_BENCH_GLOO
      {"gloo-allreduce", make_gloo, {}},
#endif
#ifdef FAST_BENCH_MPI
      {"mpi-neighbours", {}, {"--mca", "btl", "self,vader"}},
      {"mpi-neighbours-tcp", {}, {"--mca", "btl", "self,tcp"}},
      {"mpi-allreduce", {}, {"--mca", "btl", "self,vader"}},
      {"mpi-allreduce-tcp", {}, {"--mca", "btl", "self,tcp"}},
#endif
  };
}

stencil::Topology topology_of(int workers) {
  const auto side = static_cast<int>(std::lround(std::sqrt(workers)));
  return stencil::Topology::parse(side > 1 && side * side == workers
                                      ? fmt::format("torus:{0}x{0}", side)
                                      : fmt::format("ring:{}", workers));
}

struct Row {
  std::string contender;
  Site site;
  double seconds = 0;      ///< of the slowest process
  double cpu_seconds = 0;  ///< of all processes together
  double stall = 0, stall99 = 0;
  double bytes = 0;   ///< sent by a process, the mean
  double memory = 0;  ///< of the process with the most, bytes
};

double quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

class Bench {
 public:
  Bench(fs::path folder, double seconds, double step_seconds)
      : folder_(std::move(folder)), seconds_(seconds), step_seconds_(step_seconds) {}

  Row run(const Kind& kind, int workers, std::size_t floats) {
    Site site{.topology = topology_of(workers),
              .floats = floats,
              .meeting = folder_ / fmt::format("{}-{}-{}", kind.name, workers, floats),
              .rounds = std::clamp(static_cast<int>(2.5e8 / static_cast<double>(floats)), 5, 500),
              .seconds = seconds_,
              .step_seconds = step_seconds_};
    fs::remove_all(site.meeting);
    make_writable_folder(site.meeting);
    start(kind, site);
    Row row{.contender = kind.name, .site = site};
    std::vector<double> stalls;
    for (site.rank = 0; site.rank < workers; ++site.rank) {
      const Measured m = read_result(site);
      row.seconds = std::max(row.seconds, m.seconds);
      row.cpu_seconds += m.cpu_seconds;
      row.bytes += m.bytes / workers;
      row.memory = std::max(row.memory, m.memory_bytes);
      stalls.insert(stalls.end(), m.stalls.begin(), m.stalls.end());
    }
    row.stall = quantile(stalls, 0.5);
    row.stall99 = quantile(stalls, 0.99);
    return row;
  }

 private:
  static void start(const Kind& kind, const Site& site) {
    const std::string self = fs::read_symlink("/proc/self/exe");
    LaunchOptions launching;
    launching.interval = 0.05;
    launching.environment = {{"OMP_NUM_THREADS", "1"}, {"OMP_WAIT_POLICY", "passive"}};
    const std::string floats = std::to_string(site.floats), rounds = std::to_string(site.rounds);
    if (kind.make) {
      launching.program = self;
      for (int rank = 0; rank < site.topology.size(); ++rank) {
        launching.arguments.push_back({"member", kind.name, site.topology.spec(), floats, rounds,
                                       site.meeting, std::to_string(rank),
                                       std::to_string(site.seconds),
                                       std::to_string(site.step_seconds)});
      }
    } else {
      launching.program = "/usr/bin/mpirun";
      std::vector<std::string> arguments = {"--allow-run-as-root",
                                            "--oversubscribe",
                                            "--bind-to",
                                            "none",
                                            "-np",
                                            std::to_string(site.topology.size())};
      arguments.insert(arguments.end(), kind.mpi.begin(), kind.mpi.end());
      arguments.insert(arguments.end(), {fs::path(self).replace_filename("exchange_mpi"), kind.name,
                                         site.topology.spec(), floats, rounds, site.meeting});
      launching.arguments.push_back(arguments);
    }
    std::string why;
    LaunchObserver observer;
    observer.tick = [](const std::vector<WorkerProcess>&) {};
    observer.say = [&why](const std::string& line, bool) { why += line + "\n"; };
    observer.how_to_restart = [](int) { return std::string("run the benchmark again"); };
    if (overall_code(launch(launching, observer)) != 0) {
      throw std::runtime_error(kind.name + " failed:\n" + why);
    }
  }

  fs::path folder_;
  double seconds_, step_seconds_;
};

void print_head(int workers, std::size_t floats) {
  const stencil::Topology topology = topology_of(workers);
  fmt::print("\n### {} floats ({:.1f} MB), {} workers on {}\n\n", floats,
             4e-6 * static_cast<double>(floats), workers, topology.spec());
  fmt::print(
      "| contender | round, ms | its CPU, ms | each edge once, ms | its CPU, ms | held up, ms | "
      "p99 | "
      "MB sent by each | MB of memory |\n|---|---|---|---|---|---|---|---|---|\n");
}

/// The number of rounds in which every pair of neighbours averages once; nothing for contenders
/// that do not average pairs. A sweep averages one edge, and both its ends begin sweeps.
std::optional<double> rounds_for_each_edge(const Row& row) {
  if (row.contender.starts_with("fast") && !row.contender.ends_with("paced")) {
    return row.site.topology.mean_degree() / 2;
  }
  if (row.contender.starts_with("mpi-neighbours")) return 1;
  return std::nullopt;
}

void print(const Row& row) {
  const std::optional<double> rounds = rounds_for_each_edge(row);
  const auto each_edge = [&](double seconds) {
    return rounds ? fmt::format("{:.2f}", 1e3 * seconds * *rounds) : "–";
  };
  fmt::print("| {} | {:.2f} | {:.2f} | {} | {} | {:.3f} | {:.3f} | {} | {:.0f} |\n", row.contender,
             1e3 * row.seconds, 1e3 * row.cpu_seconds, each_edge(row.seconds),
             each_edge(row.cpu_seconds), 1e3 * row.stall, 1e3 * row.stall99,
             row.bytes > 0 ? fmt::format("{:.2f}", 1e-6 * row.bytes) : "–", 1e-6 * row.memory);
  std::fflush(stdout);
}

nlohmann::ordered_json to_json(const Row& row) {
  return {{"contender", row.contender},
          {"workers", row.site.topology.size()},
          {"topology", row.site.topology.spec()},
          {"floats", row.site.floats},
          {"round_seconds", row.seconds},
          {"cpu_seconds", row.cpu_seconds},
          {"held_up_seconds", row.stall},
          {"held_up_p99_seconds", row.stall99},
          {"bytes_sent", row.bytes},
          {"memory_bytes", row.memory}};
}

int bench(const std::vector<std::string>& args) {
  std::vector<int> workers = {2, 4, 9};
  std::vector<std::size_t> floats = {80'000, 270'000, 11'200'000};
  std::vector<std::string> names, all;
  for (const Kind& kind : kinds()) all.push_back(kind.name);
  names = all;
  std::string json, folder = fs::temp_directory_path().string();
  double seconds = 4, step = 20;
  CLI::App app("Exchanges models between processes of this machine, in several ways.",
               "exchange_bench");
  set_conventions(app, kExamples);
  app.add_option("--workers,-w", workers, "how many processes")->delimiter(',');
  app.add_option("--floats,-f", floats, "how large a model")->delimiter(',');
  app.add_option("--contenders,-c", names, "which ways")->delimiter(',')->check(CLI::IsMember(all));
  app.add_option("--seconds", seconds, "how long FAST is watched")->check(CLI::PositiveNumber);
  app.add_option("--step", step, "of those who are paced, ms")->check(CLI::PositiveNumber);
  bench::add_json_option(app, json);
  app.add_option("--folder", folder, "where processes meet, in a folder of this run's own")
      ->type_name("DIR");
  if (const auto code = parse_arguments(app, args)) return *code;

  // Several may run at once.
  const fs::path own = fs::path(folder) / ("fast-exchange-bench-" + std::to_string(getpid()));
  Bench bench(own, seconds, step / 1e3);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const std::size_t size : floats) {
    for (const int count : workers) {
      print_head(count, size);
      for (const Kind& kind : kinds()) {
        if (std::ranges::find(names, kind.name) == names.end()) continue;
        const Row row = bench.run(kind, count, size);
        print(row);
        rows.push_back(to_json(row));
      }
    }
  }
  fs::remove_all(own);
  bench::write_results(json, {{"watched_seconds", seconds}, {"step_ms", step}}, rows);
  return 0;
}

int member(const std::vector<std::string>& args) {
  const Site site{.rank = std::stoi(args.at(5)),
                  .topology = stencil::Topology::parse(args.at(1)),
                  .floats = std::stoul(args.at(2)),
                  .meeting = args.at(4),
                  .rounds = std::stoi(args.at(3)),
                  .seconds = std::stod(args.at(6)),
                  .step_seconds = std::stod(args.at(7))};
  for (const Kind& kind : kinds()) {
    if (kind.name == args.at(0) && kind.make) run_member(site, *kind.make(site));
  }
  return 0;
}

}  // namespace
}  // namespace fast::exchange_bench

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  try {
    if (!args.empty() && args.front() == "member") {
      return fast::exchange_bench::member({args.begin() + 1, args.end()});
    }
    return fast::exchange_bench::bench(args);
  } catch (const fast::ConfigError& error) {
    fmt::print(stderr, "exchange_bench: {}\n", error.what());
    return static_cast<int>(fast::ExitCode::kUsage);
  } catch (const std::exception& error) {
    fmt::print(stderr, "exchange_bench: {}\n", error.what());
    return static_cast<int>(fast::ExitCode::kFailure);
  }
}
