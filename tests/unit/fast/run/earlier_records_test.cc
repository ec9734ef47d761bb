// Records of an earlier version, from before records named the exchange options.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "fast/run/metrics.h"
#include "fast/run/summary.h"

namespace fast {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr char kMetrics[] =
    R"({"kind":"start","rank":1,"workers":4,"topology":"ring:4","mode":"async","model":"mlp",)"
    R"("data":"synthetic","run_id":"old","version":"0.1.0","unix_time":1000.5,"epochs":2.0,)"
    R"("budget":4000})"
    "\n"
    R"({"kind":"progress","time":1.5,"step":10,"samples":320,"network_samples":1280.0,)"
    R"("progress":0.32,"samples_per_second":213.3,"loss":0.8,"accuracy":0.7,"network_loss":null,)"
    R"("learning_rate":0.05,"consensus_distance":0.01,"exchange_seconds":0.02,)"
    R"("training_seconds":1.4,"state":"training","test_accuracy":0.75,"neighbours":[{"rank":2,)"
    R"("link":"up","sweeps":9,"bytes":3000,"round_trip_ms":1.25,"since_sweep":0.1,"shared":true,)"
    R"("bytes_shared":5000}]})"
    "\n"
    R"({"kind":"event","time":1.6,"event":"suspect","text":"worker 2 is silent"})"
    "\n"
    R"({"kind":"end","time":3.0,"exit_code":0,"text":"done","counters":{"gaps":0,"sweeps":9}})"
    "\n";

constexpr char kSummary[] = R"({
  "run_id": "old", "version": "0.1.0", "workers": 2, "topology": "ring:2", "mode": "async",
  "model": "mlp", "data": "synthetic", "epochs": 2.0, "samples": 2000, "wall_seconds": 14.0,
  "training_seconds": 11.0, "samples_per_second": 181.8,
  "test_accuracy": {"mean_model": 0.73, "worker_min": 0.7, "worker_max": 0.7,
                    "workers": [0.7, null]},
  "consensus_distance": 0.2, "sweeps_completed": 20, "bytes_sent": 20000, "bytes_shared": 0,
  "exchange_share": 0.01, "exit_codes": [0, null], "lost_ranks": [1], "restarted_ranks": [],
  "excluded_ranks": [1],
  "edges": [{"ranks": [0, 1], "sweeps": 20, "bytes": 20000, "round_trip_ms": 1.5}],
  "model_file": "model.safetensors"
})";

TEST(EarlierRecords, MetricsAreReadLineByLine) {
  const WorkerHistory history = parse_metrics(kMetrics);
  EXPECT_EQ(history.unreadable_lines, 0);
  EXPECT_EQ(history.starts, 1);
  EXPECT_EQ(history.start.rank, 1);
  EXPECT_EQ(history.start.workers, 4);
  EXPECT_EQ(history.start.mode, "async");
  EXPECT_EQ(history.start.unix_time, 1000.5);
  EXPECT_EQ(history.start.budget, 4000U);
  ASSERT_EQ(history.progress.size(), 1U);
  const WorkerProgress& progress = history.progress[0];
  EXPECT_EQ(progress.samples, 320U);
  EXPECT_TRUE(std::isnan(progress.network_loss));
  EXPECT_EQ(progress.test_accuracy, 0.75);
  EXPECT_EQ(progress.test_loss, std::nullopt);
  ASSERT_EQ(progress.neighbours.size(), 1U);
  EXPECT_EQ(progress.neighbours[0].link, "up");
  EXPECT_TRUE(progress.neighbours[0].shared);
  EXPECT_EQ(progress.neighbours[0].bytes_shared, 5000U);
  ASSERT_EQ(history.events.size(), 1U);
  EXPECT_EQ(history.events[0].event, "suspect");
  ASSERT_TRUE(history.end.has_value());
  EXPECT_THAT(history.end->counters, ElementsAre(Pair("gaps", 0), Pair("sweeps", 9)));
}

TEST(EarlierRecords, ASummaryIsRead) {
  const Summary summary = summary_from_json(kSummary, "summary.json");
  EXPECT_EQ(summary.run_id, "old");
  EXPECT_EQ(summary.workers, 2);
  EXPECT_EQ(summary.samples, 2000U);
  EXPECT_EQ(summary.test_accuracy.mean_model, 0.73);
  EXPECT_THAT(summary.test_accuracy.workers, ElementsAre(0.7, std::nullopt));
  EXPECT_EQ(summary.consensus_distance, 0.2);
  EXPECT_THAT(summary.exit_codes, ElementsAre(0, std::nullopt));
  EXPECT_THAT(summary.lost_ranks, ElementsAre(1));
  EXPECT_THAT(summary.restarted_ranks, IsEmpty());
  ASSERT_EQ(summary.left_out.size(), 1U);
  EXPECT_EQ(summary.left_out[0].rank, 1);
  ASSERT_EQ(summary.edges.size(), 1U);
  EXPECT_EQ(summary.edges[0].bytes, 20000U);
  EXPECT_EQ(summary.model_file, "model.safetensors");
}

/// Nothing that an earlier version wrote is lost when this one writes it again.
TEST(EarlierRecords, ASummaryIsWrittenAgainWithAllOfIt) {
  const auto before = nlohmann::json::parse(kSummary);
  auto after = nlohmann::json::parse(to_json(summary_from_json(kSummary, "summary.json")));
  for (auto& edge : after["edges"]) edge.erase("other_grid");  // new
  for (const auto& [name, value] : before.items()) {
    if (name == "excluded_ranks") continue;  // now "left_out", with the reason
    EXPECT_EQ(after.value(name, nlohmann::json()), value) << name;
  }
}

}  // namespace
}  // namespace fast
