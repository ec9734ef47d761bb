// wire_bench: what the transport costs beside raw sockets and beside libzmq alone.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "bench/support/results.h"
#include "bench/wire/pair.h"
#include "bench/wire/restart.h"
#include "stencil/core/layout.h"

namespace {

struct Program {
  std::string_view name;
  bench::MakeParty make;
};
constexpr std::array<Program, 7> kPrograms{{{"raw", bench::make_raw_party},
                                            {"libzmq", bench::make_zmq_party},
                                            {"libzmq-checked", bench::make_checked_zmq_party},
                                            {"tcp", bench::make_tcp_party},
                                            {"tcp-keys", bench::make_keyed_tcp_party},
                                            {"zmq", bench::make_zmq_transport_party},
                                            {"zmq-keys", bench::make_keyed_zmq_party}}};

const Program& program(const std::string& name) {
  const auto found = std::ranges::find(kPrograms, name, &Program::name);
  if (found == kPrograms.end()) throw std::runtime_error("no program '" + name + "'");
  return *found;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

struct Options {
  std::vector<double> sizes{1, 4.5, 44.7, 400};
  int rounds = 9;
  std::size_t bucket_kib = 0;
  std::uint32_t window = 4;
  double round_mb = 200;
  int control_ms = 0;
  int restarts = 0;
  std::vector<std::string> programs{"raw", "libzmq", "tcp", "tcp-keys", "zmq", "zmq-keys"};
  std::string json;
};

std::vector<std::byte> make_model(double megabytes) {
  std::vector<std::byte> model(static_cast<std::size_t>(megabytes * 1e6));
  for (std::size_t i = 0; i < model.size(); ++i)
    model[i] = static_cast<std::byte>(i * 2654435761U >> 13);
  return model;
}

bench::Traffic traffic_of(const std::vector<std::byte>& model, const Options& options) {
  const std::size_t suitable = stencil::Layout::suitable_bucket(model.size() / sizeof(float));
  return {model, options.bucket_kib > 0 ? options.bucket_kib * 1024 : suitable * sizeof(float),
          options.window, std::chrono::milliseconds(options.control_ms)};
}

/// The lateness of the product's control messages while the model is sent: a row and its JSON. A
/// bucket's time is the time of a bucket's bytes at the measured rate.
nlohmann::ordered_json measure_lateness(const std::string& name, double megabytes,
                                        const Options& options) {
  const std::vector<std::byte> model = make_model(megabytes);
  const bench::Traffic traffic = traffic_of(model, options);
  bench::Pair pair(program(name).make, traffic);
  (void)pair.run(1);  // warm-up
  const auto passes = static_cast<std::uint64_t>(std::max(1.0, options.round_mb / (2 * megabytes)));
  const bench::Measured measured = pair.run(passes);
  const double rate = 2e6 * megabytes * static_cast<double>(passes) / measured.seconds;
  const double bucket_ms = 1e3 * static_cast<double>(traffic.bucket) / rate;
  const bench::Lateness& late = measured.lateness;
  const double median_ms = 1e3 * late.median, p99_ms = 1e3 * late.p99;
  fmt::print(
      "| {:8} | {:5.1f} | {:4} | {:8.2f} | {:7.2f} | {:5} | {:6.2f} | {:6.2f} | {:6.2f} | {:5.2f} "
      "| {:5.2f} |\n",
      name, megabytes, traffic.bucket / 1024, rate / 1e6, bucket_ms, late.count, median_ms, p99_ms,
      1e3 * late.worst, median_ms / bucket_ms, p99_ms / bucket_ms);
  std::fflush(stdout);
  return {{"program", name},
          {"model_mb", megabytes},
          {"bucket_kib", traffic.bucket / 1024},
          {"mb_per_s_each_way", rate / 1e6},
          {"bucket_ms", bucket_ms},
          {"control_messages", late.count},
          {"late_ms_median", median_ms},
          {"late_ms_p99", p99_ms},
          {"late_ms_worst", 1e3 * late.worst},
          {"late_buckets_median", median_ms / bucket_ms},
          {"late_buckets_p99", p99_ms / bucket_ms}};
}

/// How long links take to come back: a row and its JSON.
nlohmann::ordered_json measure_restarts(const std::string& name, int restarts) {
  constexpr std::chrono::milliseconds kAway{500};
  const auto [listener, dialler] = bench::restart(name.starts_with("tcp") ? "tcp://" : "zmq://",
                                                  name.ends_with("-keys"), restarts, kAway);
  const nlohmann::ordered_json row{
      {"program", name},
      {"restarts", restarts},
      {"listener_back_ms_median", 1e3 * median(listener)},
      {"listener_back_ms_worst", 1e3 * std::ranges::max(listener)},
      {"dialler_back_ms_median", 1e3 * median(dialler)},
      {"dialler_back_ms_worst", 1e3 * std::ranges::max(dialler)},
  };
  fmt::print(
      "| {:8} | {:6.1f} | {:6.1f} | {:6.2f} | {:6.2f} |\n", name,
      row["listener_back_ms_median"].get<double>(), row["listener_back_ms_worst"].get<double>(),
      row["dialler_back_ms_median"].get<double>(), row["dialler_back_ms_worst"].get<double>());
  std::fflush(stdout);
  return row;
}

/// The table's rows for one size, and their JSON.
nlohmann::ordered_json measure(double megabytes, const Options& options) {
  const std::vector<std::byte> model = make_model(megabytes);
  const bench::Traffic traffic = traffic_of(model, options);
  std::vector<std::unique_ptr<bench::Pair>> pairs;
  for (const std::string& name : options.programs) {
    pairs.push_back(std::make_unique<bench::Pair>(program(name).make, traffic));
  }
  std::vector<std::vector<bench::Measured>> measured(pairs.size());
  // Each pass moves the model twice in each direction.
  const double pass_mb = 2 * megabytes;
  const auto passes = static_cast<std::uint64_t>(std::max(1.0, options.round_mb / pass_mb));
  for (auto& pair : pairs) (void)pair->run(passes);  // warm-up
  for (int round = 0; round < options.rounds; ++round) {
    for (std::size_t p = 0; p < pairs.size(); ++p) measured[p].push_back(pairs[p]->run(passes));
  }
  const double bytes = 1e6 * pass_mb * static_cast<double>(passes);
  const auto libzmq = static_cast<std::size_t>(std::ranges::find(options.programs, "libzmq") -
                                               options.programs.begin());
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    std::vector<double> rate, ratio, libzmq_ratio, cpu, cpu_ratio, faults, switches;
    for (std::size_t r = 0; r < measured[p].size(); ++r) {
      const bench::Measured &own = measured[p][r], &raw = measured[0][r];
      rate.push_back(bytes / own.seconds / 1e6);
      ratio.push_back(raw.seconds / own.seconds);
      if (libzmq < measured.size())
        libzmq_ratio.push_back(measured[libzmq][r].seconds / own.seconds);
      cpu.push_back(own.cpu_seconds / (2 * bytes) * 1e9);
      cpu_ratio.push_back(own.cpu_seconds / raw.cpu_seconds);
      faults.push_back(static_cast<double>(own.faults) / (2 * bytes / 1e6));
      switches.push_back(static_cast<double>(own.switches) / (2 * bytes / 1e6));
    }
    rows.push_back({{"program", options.programs[p]},
                    {"model_mb", megabytes},
                    {"bucket_kib", traffic.bucket / 1024},
                    {"mb_per_s_each_way", median(rate)},
                    {"of_raw", median(ratio)},
                    {"of_libzmq", libzmq_ratio.empty() ? 0 : median(libzmq_ratio)},
                    {"cpu_ns_per_byte", median(cpu)},
                    {"cpu_of_raw", median(cpu_ratio)},
                    {"faults_per_mb", median(faults)},
                    {"switches_per_mb", median(switches)}});
    const nlohmann::ordered_json& row = rows.back();
    fmt::print(
        "| {:14} | {:5.1f} | {:4} | {:7.0f} | {:4.0f} % | {:4.0f} % | {:5.3f} | {:4.2f} | {:6.2f} "
        "| {:6.2f} |\n",
        options.programs[p], megabytes, traffic.bucket / 1024,
        row["mb_per_s_each_way"].get<double>(), 100 * row["of_raw"].get<double>(),
        100 * row["of_libzmq"].get<double>(), row["cpu_ns_per_byte"].get<double>(),
        row["cpu_of_raw"].get<double>(), row["faults_per_mb"].get<double>(),
        row["switches_per_mb"].get<double>());
    std::fflush(stdout);
  }
  while (!pairs.empty()) pairs.pop_back();  // the last first: it holds the others' ends
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Two processes over loopback tcp, both directions busy: raw sockets, libzmq alone and the\n"
      "transports of this repository, round by round in turn. Prints medians; \"of raw\" and\n"
      "\"of libzmq\" are medians over rounds of the rate divided by that of raw sockets (or of\n"
      "whichever program is the first) and of libzmq in the same round. Freed memory stays with\n"
      "each process, as in a worker that trains."};
  app.footer(
      "Examples:\n"
      "  wire_bench                                  the models of 1 to 400 MB\n"
      "  wire_bench --sizes 44.7 --bucket 1024       another bucket size\n"
      "  wire_bench --sizes 1 4.5 --rounds 21 --json wire.json\n"
      "  wire_bench --control 20                     how late control messages come\n"
      "  wire_bench --restarts 20                    how long a link takes to come back\n"
      "  bench/wire/thin_link.sh 20 build/bin/wire_bench --control 20 --sizes 0.3 4.5 --round-mb "
      "20\n"
      "                                              the same over 20 Mbit/s each way, as root");
  Options options;
  app.add_option("--sizes", options.sizes, "models, in MB (1e6 bytes)")->capture_default_str();
  app.add_option("--rounds", options.rounds, "measured rounds of each program")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--bucket", options.bucket_kib,
                 "bucket, in KiB; 0: what the product chooses for the model")
      ->check(CLI::Range(0, 65536))
      ->capture_default_str();
  app.add_option("--window", options.window, "offers under way without an answer")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--round-mb", options.round_mb, "moved each way per round, at least one pass")
      ->capture_default_str();
  app.add_option(
         "--programs", options.programs,
         "which, of raw, libzmq, libzmq-checked, tcp, tcp-keys, zmq and zmq-keys; the first is the "
         "measure")
      ->capture_default_str();
  app.add_option("--control", options.control_ms,
                 "instead: a control message of the product so often, in ms, and how late it came")
      ->check(CLI::Range(1, 10000));
  app.add_option("--restarts", options.restarts,
                 "instead: each end started again so often, and when the link is up again after "
                 "that")
      ->check(CLI::Range(1, 1000));
  bench::add_json_option(app, options.json);
  CLI11_PARSE(app, argc, argv);
  try {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    if (options.restarts > 0) {
      fmt::print(
          "| program | who listens is back: median ms | worst ms | who dials: median ms | worst ms "
          "|\n|---|---|---|---|---|\n");
      for (const std::string& name : options.programs) {
        if (name == "raw" || name.starts_with("libzmq")) continue;  // they do not come back
        rows.push_back(measure_restarts(name, options.restarts));
      }
    } else if (options.control_ms > 0) {
      fmt::print(
          "| program | MB | KiB | MB/s each way | a bucket's ms | messages | median ms | p99 ms | "
          "worst ms | "
          "median, buckets | p99, buckets |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
      for (const double size : options.sizes) {
        for (const std::string& name : options.programs) {
          if (name == "raw" || name.starts_with("libzmq"))
            continue;  // they have no control messages
          rows.push_back(measure_lateness(name, size, options));
        }
      }
    } else {
      fmt::print(
          "| program | MB | KiB | MB/s each way | of raw | of libzmq | CPU ns/byte | CPU of raw | "
          "faults/MB | switches/MB |\n|---|---|---|---|---|---|---|---|---|---|\n");
      for (const double size : options.sizes) {
        for (const auto& row : measure(size, options)) rows.push_back(row);
      }
    }
    bench::write_results(options.json,
                         {{"bucket_kib", options.bucket_kib},
                          {"window", options.window},
                          {"rounds", options.rounds},
                          {"round_mb", options.round_mb}},
                         rows);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "wire_bench: {}\n", error.what());
    return 1;
  }
}
