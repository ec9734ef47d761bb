// idle_bench: what a worker's background threads use while there is nothing to exchange.

#include <fmt/core.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "adapters/flat/flat_adapter.h"
#include "fast/session.h"

namespace {

double cpu_seconds(int who) {
  rusage usage{};
  ::getrusage(who, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Worker {
  Worker(int rank, double sweeps, std::vector<float> values, const std::string& other)
      : x(std::move(values)), adapter(x), session(adapter, options(rank, sweeps, other)) {}
  static fast::SessionOptions options(int rank, double sweeps, const std::string& other) {
    fast::SessionOptions options;
    options.topology = "ring:2";
    options.rank = rank;
    options.sweeps = sweeps;
    if (!other.empty()) options.peers[1 - rank] = other;
    return options;
  }
  std::vector<float> x;
  fast::FlatAdapter adapter;
  fast::Session session;
};

/// CPU share of one of two workers' background threads and libzmq's, in percent of a core, while
/// their training threads make so many steps a second (0: none).
double share(double seconds, double steps_per_second, double sweeps) {
  Worker a(0, sweeps, std::vector<float>(1'000'000, 1.0F), "");
  Worker b(1, sweeps, std::vector<float>(1'000'000, 1.0F), a.session.endpoint());
  std::thread joining([&] { a.session.join(); });
  b.session.join();
  joining.join();
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  const auto begin = std::chrono::steady_clock::now();
  const auto pause =
      std::chrono::duration<double>(steps_per_second > 0 ? 1 / steps_per_second : seconds);
  const double process = cpu_seconds(RUSAGE_SELF), own = cpu_seconds(RUSAGE_THREAD);
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  while (elapsed() < seconds) {
    never.wait_for(lock, pause);
    if (steps_per_second == 0) continue;
    a.session.exchange({.samples = 1, .loss = 1});
    b.session.exchange({.samples = 1, .loss = 1});
  }
  const double used = cpu_seconds(RUSAGE_SELF) - process - (cpu_seconds(RUSAGE_THREAD) - own);
  return 100 * used / 2 / elapsed();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "CPU of a worker's background threads, libzmq's included, over tcp on loopback: two workers\n"
      "in one process, 1 M floats each, the training threads' own time left out."};
  app.footer("Examples:\n  idle_bench\n  idle_bench --seconds 60");
  double seconds = 10;
  app.add_option("--seconds", seconds, "of each case")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    fmt::print("| case | % of a core, per worker |\n|---|---|\n");
    fmt::print("| joined, no step, heartbeats only | {:.3f} |\n", share(seconds, 0, 1));
    fmt::print("| 10 steps/s, no sweep due | {:.3f} |\n", share(seconds, 10, 0));
    fmt::print("| 100 steps/s, no sweep due | {:.3f} |\n", share(seconds, 100, 0));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "idle_bench: {}\n", error.what());
    return 1;
  }
}
