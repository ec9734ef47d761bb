#include "fast/run/metrics_json.h"

#include "fast/run/json.h"

namespace fast {

FAST_JSON(WorkerStart, rank, workers, topology, mode, model, data, run_id, version, unix_time,
          epochs, budget, exchange, resumed, fresh)
FAST_JSON(NeighbourProgress, rank, link, sweeps, bytes, round_trip_ms, since_sweep, shared,
          bytes_shared, other_grid)
FAST_JSON(WorkerProgress, time, step, samples, network_samples, progress, samples_per_second, loss,
          accuracy, network_loss, learning_rate, consensus_distance, exchange_seconds,
          training_seconds, state, test_accuracy, test_loss, said, means, neighbours)
FAST_JSON(WorkerEnd, time, exit_code, text, counters)
FAST_JSON(WorkerHistory::Event, time, event, text)

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

template <typename T>
std::string line_of(const char* kind, const T& value) {
  ordered_json line = {{"kind", kind}};
  const ordered_json fields = value;
  for (const auto& [name, field] : fields.items()) {
    if (!field.is_null() && field != ordered_json::object())
      line[name] = field;  // an optional field without a value
  }
  return line.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

json exchange_sample() {
  json sample = stencil::ExchangeOptions();
  sample["sweeps"] = optional_sample(1.0);
  return sample;
}

WorkerStart start_of(const json& line) {
  json sample = WorkerStart();
  sample["exchange"] = exchange_sample();
  if (!line.contains("rank")) throw WrongField("rank");
  WorkerStart start = from_foreign_json<WorkerStart>(line, sample);
  if (start.rank < 0 || start.workers < 1) throw WrongField("rank");
  return start;
}

WorkerProgress progress_of(const json& line) {
  WorkerProgress progress;
  progress.neighbours.emplace_back();
  json sample = progress;
  for (const char* name : {"accuracy", "test_accuracy", "test_loss"}) {
    sample[name] = optional_sample(1.0);
  }
  for (const char* name : {"said", "means"}) sample[name] = {{"*", 1.0}};
  return from_foreign_json<WorkerProgress>(line, sample);
}

WorkerEnd end_of(const json& line) {
  json sample = WorkerEnd();
  sample["counters"] = {{"*", std::uint64_t{0}}};
  return from_foreign_json<WorkerEnd>(line, sample);
}

}  // namespace

std::string to_metrics_line(const WorkerStart& start) {
  return line_of("start", start);
}
std::string to_metrics_line(const WorkerProgress& progress) {
  return line_of("progress", progress);
}
std::string to_metrics_line(const WorkerHistory::Event& event) {
  return line_of("event", event);
}
std::string to_metrics_line(const WorkerEnd& end) {
  return line_of("end", end);
}

std::optional<MetricsLine> parse_metrics_line(std::string_view text) {
  const json line = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!line.is_object()) return std::nullopt;
  const auto kind = line.find("kind");
  if (kind == line.end()) return std::nullopt;
  try {
    if (*kind == "start") return start_of(line);
    if (*kind == "progress") return progress_of(line);
    if (*kind == "event") {
      return from_foreign_json<WorkerHistory::Event>(line, WorkerHistory::Event());
    }
    if (*kind == "end") return end_of(line);
  } catch (const WrongField&) {
  }
  return std::nullopt;
}

}  // namespace fast
