#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fast/run/atomic_file.h"
#include "fast/run/metrics.h"
#include "fast/run/run_folder.h"
#include "fast/run/safetensors.h"

namespace fast {

/// A test with a temporary folder.
class ReportTest : public ::testing::Test {
 protected:
  ReportTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "fast-report-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    folder_ = pattern;
  }
  ~ReportTest() override { std::filesystem::remove_all(folder_); }

  static std::string read(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  static void append(const std::filesystem::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary | std::ios::app) << text;
  }

  static WorkerStart start(int rank, int workers = 4, double unix_time = 1000) {
    WorkerStart start;
    start.rank = rank;
    start.workers = workers;
    start.topology = "ring:" + std::to_string(workers);
    start.mode = "async";
    start.model = "mlp";
    start.data = "synthetic";
    start.run_id = "test-run";
    start.version = "0.1.0";
    start.unix_time = unix_time;
    start.epochs = 2;
    start.budget = 4000;
    return start;
  }

  static WorkerProgress progress(double time, std::uint64_t samples, int neighbour = 1) {
    WorkerProgress p;
    p.time = time;
    p.step = samples / 10;
    p.samples = samples;
    p.network_samples = 4.0 * static_cast<double>(samples);
    p.progress = static_cast<double>(samples) / 1000;
    p.samples_per_second = 100;
    p.loss = 2.0 / (1 + time);
    p.accuracy = 0.5;
    p.consensus_distance = 0.01;
    p.exchange_seconds = 0.01 * time;
    p.training_seconds = time;
    p.state = "training";
    p.neighbours.push_back({neighbour, "up", samples / 100, samples * 10, 1.5, 0.1});
    return p;
  }

  /// A tensor file as a worker saves it: one exchanged, one local, one integer.
  static void save_model(const std::filesystem::path& file, std::vector<float> weights,
                         std::vector<float> running, std::int64_t count,
                         const std::string& ended = "agreed", SafetensorsMetadata more = {}) {
    const NamedTensor tensors[] = {
        {"weight",
         "F32",
         {static_cast<std::int64_t>(weights.size())},
         std::as_writable_bytes(std::span(weights))},
        {"running",
         "F32",
         {static_cast<std::int64_t>(running.size())},
         std::as_writable_bytes(std::span(running))},
        {"count", "I64", {}, std::as_writable_bytes(std::span(&count, 1))}};
    more.insert({{kExchangedKey, R"(["weight"])"}, {kEndedKey, ended}, {"model", "mlp"}});
    save_safetensors(file, tensors, more);
  }

  static std::vector<float> floats(std::span<const std::byte> bytes) {
    std::vector<float> values(bytes.size() / sizeof(float));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  /// A worker that trained 1000 samples and ended well.
  void write_worker(const RunFolder& run, int rank, int workers, double accuracy,
                    std::vector<float> weights) const {
    make_writable_folder(run.worker(rank));
    MetricsWriter writer(run.metrics(rank));
    writer.start(start(rank, workers, 1000 + rank));
    const int neighbour = (rank + 1) % workers;
    writer.progress(progress(5, 500, neighbour));
    writer.progress(progress(10, 1000, neighbour));
    WorkerProgress last = progress(12, 1000, neighbour);
    last.state = "frozen";
    last.training_seconds = 10;
    last.exchange_seconds = 0.1;
    last.test_accuracy = accuracy;
    writer.progress(last);
    writer.end({13, 0, "all samples used", {{"frames", 7}}});
    save_model(run.worker_model(rank), std::move(weights), {1, 2}, 40 + rank);
  }

  std::filesystem::path folder_;
};

}  // namespace fast
