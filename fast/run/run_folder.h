#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace fast {

/// In a run's folder and in each worker's: the mean, or its own, of the best of the evaluations.
inline constexpr char kBestFile[] = "best.safetensors";

/// K where the folder is called worker-K and K can be a rank.
[[nodiscard]] std::optional<int> worker_rank(const std::filesystem::path& folder);

/// The paths in a run folder.
///   RUN/config.toml  summary.json  mean.safetensors  mean-of-K.safetensors  report.html
///   RUN/best.safetensors
///   RUN/worker-K/metrics.jsonl  log.txt  model.safetensors  endpoint  checkpoint.safetensors
///   RUN/worker-K/best.safetensors
///   checkpoint.previous.safetensors  life (how often the worker was started)  lock
class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path root) : root_(std::move(root)) {}
  [[nodiscard]] const std::filesystem::path& root() const { return root_; }
  [[nodiscard]] std::filesystem::path config() const { return root_ / "config.toml"; }
  [[nodiscard]] std::filesystem::path summary() const { return root_ / "summary.json"; }
  /// The mean model.
  [[nodiscard]] std::filesystem::path mean() const { return root_ / "mean.safetensors"; }
  /// The mean of the workers' best models.
  [[nodiscard]] std::filesystem::path best() const { return root_ / kBestFile; }
  /// The mean of one part of a run that fell apart; `rank` is the lowest of that part.
  [[nodiscard]] std::filesystem::path mean_of(int rank) const {
    return root_ / ("mean-of-" + std::to_string(rank) + ".safetensors");
  }
  /// All existing files of the last two kinds.
  [[nodiscard]] std::vector<std::filesystem::path> means() const;
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
  /// The best of its evaluations; the model of the last one, which is not judged yet.
  [[nodiscard]] std::filesystem::path worker_best(int rank) const {
    return worker(rank) / kBestFile;
  }
  [[nodiscard]] std::filesystem::path proposed(int rank) const {
    return worker(rank) / "best.next.safetensors";
  }
  [[nodiscard]] std::filesystem::path checkpoint(int rank) const {
    return worker(rank) / "checkpoint.safetensors";
  }
  [[nodiscard]] std::filesystem::path endpoint(int rank) const { return worker(rank) / "endpoint"; }

 private:
  std::filesystem::path root_;
};

}  // namespace fast
