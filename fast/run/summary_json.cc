#include <cmath>

#include "fast/errors.h"
#include "fast/run/json.h"
#include "fast/run/summary.h"

namespace fast {

FAST_JSON(EdgeTotals, ranks, sweeps, bytes, round_trip_ms, other_grid)
FAST_JSON(LeftOut, rank, why)
FAST_JSON(BestModel, file, evaluation, ranks, accuracy, loss)
FAST_JSON(TestAccuracies, mean_model, worker_min, worker_max, workers)
FAST_JSON(Measure, name, value)
FAST_JSON(Summary, run_id, version, workers, topology, mode, model, data, epochs, exchange, samples,
          aim, samples_by_rank, short_ranks, wall_seconds, training_seconds, samples_per_second,
          test_accuracy, test_loss, test_measure, consensus_distance, sweeps_completed, bytes_sent,
          bytes_shared, exchange_share, exit_codes, lost_ranks, restarted_ranks, restarts,
          older_run_ranks, left_out, islands, not_evaluated, not_learnt, edges, model_file, best)

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr char kRemedy[] = "make it again with `fast report`";

json sample_summary() {
  Summary summary;
  summary.samples_by_rank = {0};
  summary.short_ranks = summary.lost_ranks = summary.restarted_ranks = summary.restarts =
      summary.older_run_ranks = {0};
  summary.left_out.emplace_back();
  summary.islands = {{0}};
  summary.edges.emplace_back();
  json sample = summary;
  const json fraction = optional_sample(1.0);
  sample["exchange"]["sweeps"] = fraction;
  sample["consensus_distance"] = fraction;
  sample["test_loss"] = fraction;
  sample["test_measure"]["value"] = fraction;
  sample["test_accuracy"] = {{"mean_model", fraction},
                             {"worker_min", fraction},
                             {"worker_max", fraction},
                             {"workers", json::array({fraction})}};
  sample["exit_codes"] = json::array({optional_sample(0)});
  sample["model_file"] = optional_sample("");
  sample["best"] = optional_sample({{"file", ""},
                                    {"evaluation", ""},
                                    {"ranks", {0}},
                                    {"accuracy", fraction},
                                    {"loss", fraction}});
  return sample;
}

/// Earlier versions listed only workers whose models were not finite.
void rename_excluded(json& object) {
  const auto excluded = object.find("excluded_ranks");
  if (excluded == object.end() || object.contains("left_out")) return;
  json left_out = json::array();
  for (const json& rank : *excluded) {
    left_out.push_back({{"rank", rank}, {"why", "its model is not finite"}});
  }
  object["left_out"] = std::move(left_out);
}

Summary summary_of(json object) {
  rename_excluded(object);
  const auto edges = object.find("edges");
  for (const json& edge : edges != object.end() ? *edges : json::array()) {
    if (edge.is_object() && edge.value("ranks", json()).size() != 2) throw WrongField("ranks");
  }
  return from_foreign_json<Summary>(std::move(object), sample_summary());
}

}  // namespace

std::string to_json(const Summary& summary) {
  return ordered_json(summary).dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

Summary summary_from_json(std::string_view text, const std::string& name) {
  const json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  try {
    if (object.is_object()) return summary_of(object);
  } catch (const WrongField& error) {
    throw FileError(name + ": " + error.what(), kRemedy);
  }
  throw FileError(name + " is no JSON object", kRemedy);
}

}  // namespace fast
