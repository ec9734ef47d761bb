#pragma once

#include <filesystem>
#include <string>

namespace fast {

/// Where things lie in a run folder: path arithmetic alone.
///   RUN/config.toml  summary.json  model.safetensors  report.html
///   RUN/worker-K/metrics.jsonl  log.txt  model.safetensors  endpoint  checkpoint.safetensors
///   checkpoint.previous.safetensors  life (how often the worker was started)  lock
class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path root) : root_(std::move(root)) {}
  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  [[nodiscard]] std::filesystem::path config() const { return root_ / "config.toml"; }
  [[nodiscard]] std::filesystem::path summary() const { return root_ / "summary.json"; }
  [[nodiscard]] std::filesystem::path model() const { return root_ / "model.safetensors"; }
  [[nodiscard]] std::filesystem::path page() const { return root_ / "report.html"; }
  [[nodiscard]] std::filesystem::path worker(int rank) const {
    return root_ / ("worker-" + std::to_string(rank));
  }
  [[nodiscard]] std::filesystem::path metrics(int rank) const {
    return worker(rank) / "metrics.jsonl";
  }
  [[nodiscard]] std::filesystem::path log(int rank) const { return worker(rank) / "log.txt"; }
  [[nodiscard]] std::filesystem::path worker_model(int rank) const {
    return worker(rank) / "model.safetensors";
  }
  [[nodiscard]] std::filesystem::path checkpoint(int rank) const {
    return worker(rank) / "checkpoint.safetensors";
  }
  [[nodiscard]] std::filesystem::path endpoint(int rank) const { return worker(rank) / "endpoint"; }

 private:
  std::filesystem::path root_;
};

}  // namespace fast
