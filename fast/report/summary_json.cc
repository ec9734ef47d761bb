#include <limits>

#include "fast/errors.h"
#include "fast/report/fields.h"
#include "fast/report/json_fields.h"
#include "fast/report/summary.h"

namespace fast {
namespace {

using json_fields::read;
using nlohmann::json;
using nlohmann::ordered_json;

ordered_json or_null(const std::optional<double>& value) {
  return json_fields::or_null<ordered_json>(value);
}

std::vector<int> ranks_of(const json& object, const char* name) {
  std::vector<int> ranks;
  const auto it = object.find(name);
  if (it == object.end()) return ranks;
  if (!it->is_array()) throw json_fields::WrongField(name);
  for (const json& rank : *it) ranks.push_back(json_fields::as_int(rank, name));
  return ranks;
}

void read_accuracies(const json& object, Summary& summary) {
  const auto it = object.find(field::kTestAccuracy);
  if (it == object.end()) return;
  if (!it->is_object()) throw json_fields::WrongField(field::kTestAccuracy);
  read(*it, field::kMeanModel, summary.mean_model_accuracy);
  read(*it, field::kWorkerMin, summary.worker_min);
  read(*it, field::kWorkerMax, summary.worker_max);
  const auto workers = it->find(field::kWorkers);
  if (workers == it->end()) return;
  if (!workers->is_array()) throw json_fields::WrongField(field::kTestAccuracy);
  for (const json& accuracy : *workers) {
    if (!accuracy.is_null() && !accuracy.is_number()) {
      throw json_fields::WrongField(field::kTestAccuracy);
    }
    summary.worker_accuracy.push_back(
        accuracy.is_null() ? std::nullopt : std::optional<double>(accuracy.get<double>()));
  }
}

void read_edges(const json& object, Summary& summary) {
  const auto it = object.find(field::kEdges);
  if (it == object.end()) return;
  if (!it->is_array()) throw json_fields::WrongField(field::kEdges);
  for (const json& entry : *it) {
    if (!entry.is_object()) throw json_fields::WrongField(field::kEdges);
    const std::vector<int> ends = ranks_of(entry, field::kRanks);
    if (ends.size() != 2) throw json_fields::WrongField(field::kRanks);
    EdgeTotals edge;
    edge.a = ends[0];
    edge.b = ends[1];
    read(entry, field::kSweeps, edge.sweeps);
    read(entry, field::kBytes, edge.bytes);
    read(entry, field::kRoundTrip, edge.round_trip_ms);
    summary.edges.push_back(edge);
  }
}

void read_exit_codes(const json& object, Summary& summary) {
  const auto it = object.find(field::kExitCodes);
  if (it == object.end()) return;
  if (!it->is_array()) throw json_fields::WrongField(field::kExitCodes);
  for (const json& code : *it) {
    summary.exit_codes.push_back(
        code.is_null() ? std::nullopt
                       : std::optional<int>(json_fields::as_int(code, field::kExitCodes)));
  }
}

Summary from_object(const json& object) {
  Summary summary;
  read(object, field::kRunId, summary.run_id);
  read(object, field::kVersion, summary.version);
  read(object, field::kWorkers, summary.workers);
  read(object, field::kTopology, summary.topology);
  read(object, field::kMode, summary.mode);
  read(object, field::kModel, summary.model);
  read(object, field::kData, summary.data);
  read(object, field::kEpochs, summary.epochs);
  read(object, field::kSamples, summary.samples);
  read(object, field::kWallSeconds, summary.wall_seconds);
  read(object, field::kTrainingSeconds, summary.training_seconds);
  read(object, field::kSamplesPerSecond, summary.samples_per_second);
  read_accuracies(object, summary);
  read(object, field::kConsensus, summary.consensus_distance);
  read(object, field::kSweepsCompleted, summary.sweeps_completed);
  read(object, field::kBytesSent, summary.bytes_sent);
  read(object, field::kBytesShared, summary.bytes_shared);
  read(object, field::kExchangeShare, summary.exchange_share);
  read_exit_codes(object, summary);
  summary.lost_ranks = ranks_of(object, field::kLostRanks);
  summary.restarted_ranks = ranks_of(object, field::kRestartedRanks);
  summary.excluded_ranks = ranks_of(object, field::kExcludedRanks);
  read_edges(object, summary);
  if (const auto it = object.find(field::kMeanModelFile); it != object.end() && !it->is_null()) {
    read(object, field::kMeanModelFile, summary.model_file);
  }
  return summary;
}

}  // namespace

std::string to_json(const Summary& s) {
  ordered_json accuracies = ordered_json::array();
  for (const auto& accuracy : s.worker_accuracy) accuracies.push_back(or_null(accuracy));
  ordered_json codes = ordered_json::array();
  for (const auto& code : s.exit_codes) {
    codes.push_back(code ? ordered_json(*code) : ordered_json(nullptr));
  }
  ordered_json edges = ordered_json::array();
  for (const EdgeTotals& edge : s.edges) {
    edges.push_back({{field::kRanks, ordered_json::array({edge.a, edge.b})},
                     {field::kSweeps, edge.sweeps},
                     {field::kBytes, edge.bytes},
                     {field::kRoundTrip, edge.round_trip_ms}});
  }
  const ordered_json object = {
      {field::kRunId, s.run_id},
      {field::kVersion, s.version},
      {field::kWorkers, s.workers},
      {field::kTopology, s.topology},
      {field::kMode, s.mode},
      {field::kModel, s.model},
      {field::kData, s.data},
      {field::kEpochs, s.epochs},
      {field::kSamples, s.samples},
      {field::kWallSeconds, s.wall_seconds},
      {field::kTrainingSeconds, s.training_seconds},
      {field::kSamplesPerSecond, s.samples_per_second},
      {field::kTestAccuracy,
       {{field::kMeanModel, or_null(s.mean_model_accuracy)},
        {field::kWorkerMin, or_null(s.worker_min)},
        {field::kWorkerMax, or_null(s.worker_max)},
        {field::kWorkers, std::move(accuracies)}}},
      {field::kConsensus, or_null(s.consensus_distance)},
      {field::kSweepsCompleted, s.sweeps_completed},
      {field::kBytesSent, s.bytes_sent},
      {field::kBytesShared, s.bytes_shared},
      {field::kExchangeShare, s.exchange_share},
      {field::kExitCodes, std::move(codes)},
      {field::kLostRanks, s.lost_ranks},
      {field::kRestartedRanks, s.restarted_ranks},
      {field::kExcludedRanks, s.excluded_ranks},
      {field::kEdges, std::move(edges)},
      {field::kMeanModelFile,
       s.model_file.empty() ? ordered_json(nullptr) : ordered_json(s.model_file)}};
  return object.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

Summary summary_from_json(std::string_view text, const std::string& name) {
  const json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  try {
    if (object.is_object()) return from_object(object);
  } catch (const json_fields::WrongField& error) {
    throw FileError(name + ": " + error.what(), "make it again with `fast report`");
  }
  throw FileError(name + " is no JSON object", "make it again with `fast report`");
}

}  // namespace fast
