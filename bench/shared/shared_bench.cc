// Whole sweeps between two workers, each a process of its own, over shared memory and over tcp, by
// the product's own path (Session), beside what memory does in the same run.
//
// One of the two begins all the sweeps. Wall time is per sweep; in total it is up to 55 ms too
// long, since the end is noticed that late. CPU time is of both processes. The bytes of a sweep in
// shared memory are those of six arrays as large as the model: y and p of both ends are read, p of
// both is written. The triad a = b + s c moves four: the lines of a are fetched before they are
// overwritten (as in mix_bench); an update in place moves three.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "adapters/flat/flat_adapter.h"
#include "bench/support/results.h"
#include "fast/session/session.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Size {
  std::size_t floats = 11'170'000;
  int sweeps = 300, bucket_kib = 256, window = 4;
  [[nodiscard]] double megabytes() const { return static_cast<double>(floats) * 4e-6; }
};

double since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

double cpu_seconds(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// The shortest of several passes, in seconds.
template <typename Pass>
double fastest(Pass pass) {
  double best = 1e9;
  for (int i = 0; i < 12; ++i) {
    const Clock::time_point begun = Clock::now();
    pass();
    best = std::min(best, since(begun));
  }
  return best;
}

struct Memory {
  double triad = 0, update = 0;  ///< GB/s
};

Memory measure_memory(std::size_t floats) {
  std::vector<float> a(floats, 1), b(floats, 2), c(floats, 3);
  const double gigabyte = 4e-9 * static_cast<double>(floats);  // an array
  volatile float scale = 0.5F;
  const float s = scale;
  Memory memory;
  memory.triad = 4 * gigabyte / fastest([&] {
                   float* __restrict__ out = a.data();
                   const float *x = b.data(), *y = c.data();
                   for (std::size_t i = 0; i < floats; ++i) out[i] = x[i] + s * y[i];
                   asm volatile("" ::: "memory");
                 });
  memory.update = 3 * gigabyte / fastest([&] {
                    float* __restrict__ out = a.data();
                    const float* x = b.data();
                    for (std::size_t i = 0; i < floats; ++i) out[i] += s * x[i];
                    asm volatile("" ::: "memory");
                  });
  return memory;
}

fast::SessionOptions options(const Size& size, const std::string& transport, int rank) {
  fast::SessionOptions o;
  o.topology = "ring:2";
  o.rank = rank;
  o.exchange.share_memory = transport == "shared" ? "auto" : "never";
  if (transport != "shared") o.exchange.transport = transport;
  o.exchange.sweeps = size.sweeps;
  o.exchange.linger = 0;
  o.exchange.bucket_kib = size.bucket_kib;
  o.exchange.window = size.window;
  return o;
}

/// The worker that only answers: writes its endpoint, joins, and runs until it is killed.
[[noreturn]] void answer(const Size& size, const std::string& transport, int out) {
  std::vector<float> x(size.floats, 1);
  fast::FlatAdapter adapter(x);
  fast::Session session(adapter, options(size, transport, 1));
  const std::string endpoint = session.endpoint() + "\n";
  if (::write(out, endpoint.data(), endpoint.size()) < 0) std::_Exit(1);
  session.join();
  while (true) ::pause();
}

struct Measured {
  double wall = 0, cpu = 0;  ///< seconds per sweep
  double exchange = 0;       ///< seconds of one boundary, beside an idle process
  fast::SessionStatus status;
};

Measured sweep(const Size& size, const std::string& transport) {
  int ends[2];
  if (::pipe(ends) != 0) std::exit(1);
  const pid_t other = ::fork();
  if (other == 0) answer(size, transport, ends[1]);
  std::string endpoint;
  for (char c = 0; ::read(ends[0], &c, 1) == 1 && c != '\n';) endpoint += c;

  Measured measured;
  {
    std::vector<float> x(size.floats, 1);
    fast::FlatAdapter adapter(x);
    fast::SessionOptions mine = options(size, transport, 0);
    mine.peers[1] = endpoint;
    fast::Session session(adapter, mine);
    session.join();
    const auto wait = [&](auto done) {
      while (!done(session.status())) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    };
    const auto up = [&](const fast::SessionStatus& s) {
      return s.neighbours[0].link == stencil::LinkState::kUp &&
             s.neighbours[0].shared == (transport == "shared");
    };
    wait(up);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 1000) * 1e-3F;
    // The first round touches fresh pages.
    for (int round = 0; round < 2; ++round) {
      const std::uint64_t target = session.status().counter("sweeps") + size.sweeps;
      const double cpu = cpu_seconds(::getpid()) + cpu_seconds(other);
      const double exchange = session.exchange_seconds();
      const Clock::time_point begun = Clock::now();
      session.exchange({});
      wait([&](const fast::SessionStatus& s) { return s.counter("sweeps") >= target; });
      measured.wall = since(begun) / size.sweeps;
      measured.cpu = (cpu_seconds(::getpid()) + cpu_seconds(other) - cpu) / size.sweeps;
      measured.exchange = session.exchange_seconds() - exchange;
    }
    measured.status = session.status();
    ::kill(other, SIGKILL);
    ::waitpid(other, nullptr, 0);
  }
  ::close(ends[0]);
  ::close(ends[1]);
  return measured;
}

nlohmann::ordered_json to_json(const char* transport, const Measured& measured) {
  return {{"transport", transport},
          {"sweep_wall_ms", 1e3 * measured.wall},
          {"sweep_cpu_ms", 1e3 * measured.cpu},
          {"boundary_ms", 1e3 * measured.exchange},
          {"shares", measured.status.counter("shares")}};
}

/// Measures, prints, and writes `json`; false where nothing was averaged in shared memory.
bool measure(const Size& size, const std::string& json) {
  const Memory memory = measure_memory(size.floats);
  const Measured shared = sweep(size, "shared");
  const Measured tcp = sweep(size, "tcp");
  const double bytes_time = 6e-3 * size.megabytes() / memory.triad;
  std::printf("model %.1f MB, %d sweeps, buckets of %d KiB, window %d\n", size.megabytes(),
              size.sweeps, size.bucket_kib, size.window);
  std::printf("memory: triad %.2f GB/s, update in place %.2f GB/s\n", memory.triad, memory.update);
  std::printf("the bytes of a sweep in shared memory, at the triad's rate: %.2f ms\n",
              1e3 * bytes_time);
  std::printf("shared: %.2f ms wall, %.2f ms CPU a sweep: %.2f x the bytes' time; %llu shares\n",
              1e3 * shared.wall, 1e3 * shared.cpu, shared.wall / bytes_time,
              static_cast<unsigned long long>(shared.status.counter("shares")));
  std::printf("tcp:    %.2f ms wall, %.2f ms CPU a sweep\n", 1e3 * tcp.wall, 1e3 * tcp.cpu);
  std::printf("the training thread's boundary: shared %.2f ms, tcp %.2f ms\n",
              1e3 * shared.exchange, 1e3 * tcp.exchange);
  std::printf("tcp / shared: wall %.1f, CPU %.1f\n", tcp.wall / shared.wall, tcp.cpu / shared.cpu);
  bench::write_results(json,
                       {{"floats", size.floats},
                        {"sweeps", size.sweeps},
                        {"bucket_kib", size.bucket_kib},
                        {"window", size.window},
                        {"triad_gb_per_s", memory.triad},
                        {"update_gb_per_s", memory.update},
                        {"bytes_of_a_shared_sweep_ms", 1e3 * bytes_time}},
                       {to_json("shared memory", shared), to_json("tcp", tcp)});
  return shared.status.counter("shares") > 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Whole sweeps between two workers, each a process of its own, in shared memory and over\n"
      "tcp, beside what memory does in the same run."};
  app.footer(
      "Examples:\n"
      "  shared_bench                                ResNet-18's size\n"
      "  shared_bench 11.17 100 1024 4 --json shared.json");
  Size size;
  double millions = 1e-6 * static_cast<double>(size.floats);
  std::string json;
  app.add_option("millions", millions, "of floats")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("sweeps", size.sweeps, "to be measured")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("bucket", size.bucket_kib, "in KiB; 0: what the product chooses for the model")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("window", size.window, "offers under way without an answer")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  bench::add_json_option(app, json);
  CLI11_PARSE(app, argc, argv);
  size.floats = static_cast<std::size_t>(std::llround(millions * 1e6));
  try {
    return measure(size, json) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "shared_bench: %s\n", error.what());
    return 1;
  }
}
