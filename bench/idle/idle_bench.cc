// idle_bench: what a worker's background threads use while there is nothing to exchange.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "adapters/flat/flat_adapter.h"
#include "bench/support/cpu_time.h"
#include "bench/support/results.h"
#include "fast/session/session.h"

namespace {

struct Case {
  const char* transport;
  double steps_per_second;  ///< 0: none
  double sweeps;
};

struct Worker {
  Worker(int rank, const Case& wanted, const std::string& other)
      : x(1'000'000, 1.0F), adapter(x), session(adapter, options(rank, wanted, other)) {}
  static fast::SessionOptions options(int rank, const Case& wanted, const std::string& other) {
    fast::SessionOptions options;
    options.exchange.transport = wanted.transport;
    options.topology = "ring:2";
    options.rank = rank;
    options.exchange.sweeps = wanted.sweeps;
    if (!other.empty()) options.peers[1 - rank] = other;
    return options;
  }
  std::vector<float> x;
  fast::FlatAdapter adapter;
  fast::Session session;
};

/// CPU share of the background threads of one of two workers, in percent of a core, at this number
/// of steps a second.
double share(double seconds, const Case& wanted) {
  Worker a(0, wanted, "");
  Worker b(1, wanted, a.session.endpoint());
  std::thread joining([&] { a.session.join(); });
  b.session.join();
  joining.join();
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  const auto begin = std::chrono::steady_clock::now();
  const auto pause = std::chrono::duration<double>(
      wanted.steps_per_second > 0 ? 1 / wanted.steps_per_second : seconds);
  const double process = cpu_seconds(), own = cpu_seconds(RUSAGE_THREAD);
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  while (elapsed() < seconds) {
    never.wait_for(lock, pause);
    if (wanted.steps_per_second == 0) continue;
    a.session.exchange({.samples = 1, .loss = 1});
    b.session.exchange({.samples = 1, .loss = 1});
  }
  const double used = cpu_seconds() - process - (cpu_seconds(RUSAGE_THREAD) - own);
  return 100 * used / 2 / elapsed();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "CPU of a worker's background threads over tcp on loopback and with\n"
      "shared memory: two workers in one process, 1 M floats each, the training threads' own time "
      "left out."};
  app.footer("Examples:\n  idle_bench\n  idle_bench --seconds 60 --json idle.json");
  double seconds = 10;
  std::string json;
  app.add_option("--seconds", seconds, "of each case")->capture_default_str();
  bench::add_json_option(app, json);
  CLI11_PARSE(app, argc, argv);
  try {
    fmt::print("| % of a core, per worker | tcp | shared memory |\n|---|---|---|\n");
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    const auto measure = [&](const char* name, double steps_per_second, double sweeps) {
      const double tcp = share(seconds, {"tcp", steps_per_second, sweeps});
      const double shared = share(seconds, {"auto", steps_per_second, sweeps});
      fmt::print("| {} | {:.3f} | {:.3f} |\n", name, tcp, shared);
      rows.push_back({{"case", name},
                      {"steps_per_second", steps_per_second},
                      {"tcp_percent_of_a_core", tcp},
                      {"shared_memory_percent_of_a_core", shared}});
    };
    measure("joined, no step, heartbeats only", 0, 1);
    measure("10 steps/s, no sweep due", 10, 0);
    measure("100 steps/s, no sweep due", 100, 0);
    bench::write_results(json, {{"seconds", seconds}, {"floats", 1'000'000}}, rows);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "idle_bench: {}\n", error.what());
    return 1;
  }
}
