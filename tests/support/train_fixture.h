#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace fast::testing {

/// Runs of `fast train`, small and short, in a temporary folder.
class TrainTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path run(const std::string& name = "run") const {
    return folder_.path() / name;
  }

  /// A short run of the plainest model on few, small, generated examples. A hundred epochs take
  /// about a second: shorter, and the first of four workers could be through before the last has
  /// started.
  [[nodiscard]] std::vector<std::string> wishes(const std::string& topology,
                                                const std::string& epochs,
                                                const std::string& name = "run") const {
    return {"train",
            "--model",
            "linear",
            "--data",
            "synthetic:512,128",
            "--topology",
            topology,
            "--epochs",
            epochs,
            "--out",
            run(name).string(),
            "--threads",
            "1",
            "--lr",
            "0.01",
            "--report-every",
            "0.2",
            "--settle-deadline",
            "5",
            "--start-deadline",
            "20"};
  }
  static nlohmann::json summary_of(const std::filesystem::path& run) {
    return nlohmann::json::parse(read_text(run / "summary.json"));
  }
  static bool trains(const std::filesystem::path& run, int rank) {
    const std::string text = read_text(run / ("worker-" + std::to_string(rank)) / "metrics.jsonl");
    return text.find("\"progress\"") != std::string::npos &&
           text.find("\"training\"") != std::string::npos;
  }
  static bool all_train(const std::filesystem::path& run, int workers) {
    for (int rank = 0; rank < workers; ++rank) {
      if (!trains(run, rank)) return false;
    }
    return true;
  }
  static void expect_complete(const std::filesystem::path& run, int workers) {
    for (const char* const file :
         {"config.toml", "summary.json", "mean.safetensors", "report.html"}) {
      EXPECT_GT(std::filesystem::file_size(run / file), 0U) << file;
    }
    for (int rank = 0; rank < workers; ++rank) {
      for (const char* const file : {"metrics.jsonl", "log.txt", "model.safetensors", "endpoint"}) {
        EXPECT_TRUE(std::filesystem::exists(run / ("worker-" + std::to_string(rank)) / file))
            << rank << file;
      }
    }
  }

  TemporaryFolder folder_;
};

}  // namespace fast::testing
