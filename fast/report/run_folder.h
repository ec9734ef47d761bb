#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace fast {

/// Where things lie in a run folder. Pure path arithmetic but for the two functions that write.
///   RUN/config.toml  summary.json  model.safetensors  report.html
///   RUN/worker-K/metrics.jsonl  log.txt  model.safetensors  endpoint
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
  [[nodiscard]] std::filesystem::path endpoint(int rank) const { return worker(rank) / "endpoint"; }

 private:
  std::filesystem::path root_;
};

/// Creates a folder (and its parents) and proves that files can be written there. Throws FileError.
void make_writable_folder(const std::filesystem::path& folder);

/// Readers see the old file or the whole new one, never a part. Throws FileError.
void write_atomically(const std::filesystem::path& file, std::string_view content);

}  // namespace fast
