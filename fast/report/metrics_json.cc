#include "fast/report/metrics_json.h"

#include "fast/report/fields.h"
#include "fast/report/json_fields.h"

namespace fast {
namespace {

using json_fields::read;
using nlohmann::json;
using nlohmann::ordered_json;

std::string line_of(const ordered_json& object) {
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

WorkerStart start_of(const json& line) {
  WorkerStart start;
  if (!line.contains(field::kRank)) throw json_fields::WrongField(field::kRank);
  read(line, field::kRank, start.rank);
  read(line, field::kWorkers, start.workers);
  if (start.rank < 0 || start.workers < 1) throw json_fields::WrongField(field::kRank);
  read(line, field::kTopology, start.topology);
  read(line, field::kMode, start.mode);
  read(line, field::kModel, start.model);
  read(line, field::kData, start.data);
  read(line, field::kRunId, start.run_id);
  read(line, field::kVersion, start.version);
  read(line, field::kUnixTime, start.unix_time);
  read(line, field::kEpochs, start.epochs);
  read(line, field::kBudget, start.budget);
  return start;
}

NeighbourProgress neighbour_of(const json& object) {
  NeighbourProgress neighbour;
  if (!object.is_object()) throw json_fields::WrongField(field::kNeighbours);
  read(object, field::kRank, neighbour.rank);
  read(object, field::kLink, neighbour.link);
  read(object, field::kSweeps, neighbour.sweeps);
  read(object, field::kBytes, neighbour.bytes);
  read(object, field::kRoundTrip, neighbour.round_trip_ms);
  read(object, field::kSinceSweep, neighbour.since_sweep);
  read(object, field::kShared, neighbour.shared);
  read(object, field::kBytesShared, neighbour.bytes_shared);
  return neighbour;
}

WorkerProgress progress_of(const json& line) {
  WorkerProgress p;
  read(line, field::kTime, p.time);
  read(line, field::kStep, p.step);
  read(line, field::kSamples, p.samples);
  read(line, field::kNetworkSamples, p.network_samples);
  read(line, field::kProgress, p.progress);
  read(line, field::kSamplesPerSecond, p.samples_per_second);
  read(line, field::kLoss, p.loss);
  read(line, field::kAccuracy, p.accuracy);
  read(line, field::kNetworkLoss, p.network_loss);
  read(line, field::kLearningRate, p.learning_rate);
  read(line, field::kConsensus, p.consensus_distance);
  read(line, field::kExchangeSeconds, p.exchange_seconds);
  read(line, field::kTrainingSeconds, p.training_seconds);
  read(line, field::kState, p.state);
  read(line, field::kTestAccuracy, p.test_accuracy);
  read(line, field::kTestLoss, p.test_loss);
  if (const auto it = line.find(field::kNeighbours); it != line.end()) {
    if (!it->is_array()) throw json_fields::WrongField(field::kNeighbours);
    for (const json& object : *it) p.neighbours.push_back(neighbour_of(object));
  }
  return p;
}

WorkerHistory::Event event_of(const json& line) {
  WorkerHistory::Event event;
  read(line, field::kTime, event.time);
  read(line, field::kEvent, event.name);
  read(line, field::kText, event.text);
  return event;
}

WorkerEnd end_of(const json& line) {
  WorkerEnd end;
  read(line, field::kTime, end.time);
  read(line, field::kExitCode, end.exit_code);
  read(line, field::kText, end.text);
  if (const auto it = line.find(field::kCounters); it != line.end()) {
    if (!it->is_object()) throw json_fields::WrongField(field::kCounters);
    for (const auto& [name, value] : it->items()) {
      read(*it, name.c_str(), end.counters[name]);
    }
  }
  return end;
}

}  // namespace

std::string to_metrics_line(const WorkerStart& start) {
  return line_of({{field::kKind, "start"},
                  {field::kRank, start.rank},
                  {field::kWorkers, start.workers},
                  {field::kTopology, start.topology},
                  {field::kMode, start.mode},
                  {field::kModel, start.model},
                  {field::kData, start.data},
                  {field::kRunId, start.run_id},
                  {field::kVersion, start.version},
                  {field::kUnixTime, start.unix_time},
                  {field::kEpochs, start.epochs},
                  {field::kBudget, start.budget}});
}

std::string to_metrics_line(const WorkerProgress& p) {
  ordered_json line = {{field::kKind, "progress"},
                       {field::kTime, p.time},
                       {field::kStep, p.step},
                       {field::kSamples, p.samples},
                       {field::kNetworkSamples, p.network_samples},
                       {field::kProgress, p.progress},
                       {field::kSamplesPerSecond, p.samples_per_second},
                       {field::kLoss, p.loss},
                       {field::kAccuracy, p.accuracy},
                       {field::kNetworkLoss, p.network_loss},
                       {field::kLearningRate, p.learning_rate},
                       {field::kConsensus, p.consensus_distance},
                       {field::kExchangeSeconds, p.exchange_seconds},
                       {field::kTrainingSeconds, p.training_seconds},
                       {field::kState, p.state}};
  if (p.test_accuracy) line[field::kTestAccuracy] = *p.test_accuracy;
  if (p.test_loss) line[field::kTestLoss] = *p.test_loss;
  ordered_json neighbours = ordered_json::array();
  for (const NeighbourProgress& n : p.neighbours) {
    neighbours.push_back({{field::kRank, n.rank},
                          {field::kLink, n.link},
                          {field::kSweeps, n.sweeps},
                          {field::kBytes, n.bytes},
                          {field::kRoundTrip, n.round_trip_ms},
                          {field::kSinceSweep, n.since_sweep},
                          {field::kShared, n.shared},
                          {field::kBytesShared, n.bytes_shared}});
  }
  line[field::kNeighbours] = std::move(neighbours);
  return line_of(line);
}

std::string to_metrics_line(const WorkerHistory::Event& event) {
  return line_of({{field::kKind, "event"},
                  {field::kTime, event.time},
                  {field::kEvent, event.name},
                  {field::kText, event.text}});
}

std::string to_metrics_line(const WorkerEnd& end) {
  ordered_json counters = ordered_json::object();
  for (const auto& [name, count] : end.counters) counters[name] = count;
  return line_of({{field::kKind, "end"},
                  {field::kTime, end.time},
                  {field::kExitCode, end.exit_code},
                  {field::kText, end.text},
                  {field::kCounters, std::move(counters)}});
}

std::optional<MetricsLine> parse_metrics_line(std::string_view text) {
  const json line = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!line.is_object()) return std::nullopt;
  try {
    std::string kind;
    read(line, field::kKind, kind);
    if (kind == "start") return start_of(line);
    if (kind == "progress") return progress_of(line);
    if (kind == "event") return event_of(line);
    if (kind == "end") return end_of(line);
  } catch (const json_fields::WrongField&) {
  }
  return std::nullopt;
}

}  // namespace fast
