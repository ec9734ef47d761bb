#include "bench/compare/cell.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "fast/errors.h"
#include "fast/report/run_folder.h"
#include "stencil/core/topology.h"

namespace fast::compare {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

ordered_json point_json(const CurvePoint& p) {
  return {{"samples", p.samples},   {"seconds", p.seconds}, {"bytes", p.bytes},
          {"accuracy", p.accuracy}, {"loss", p.loss},       {"consensus", p.consensus}};
}

CurvePoint point_from(const json& j) {
  return {.samples = j.at("samples"),
          .seconds = j.at("seconds"),
          .bytes = j.at("bytes"),
          .accuracy = j.at("accuracy"),
          .loss = j.at("loss"),
          .consensus = j.at("consensus")};
}

json describe(const Cell& cell) {
  const Job& j = cell.job;
  const Condition& c = cell.condition;
  const Strategy& s = cell.strategy;
  json slow = json::object();
  for (const auto& [rank, factor] : c.slow) slow[std::to_string(rank)] = factor;
  json out = {{"job",
               {{"model", j.model},
                {"data", j.data},
                {"examples", j.examples},
                {"validation", j.validation},
                {"epochs", j.epochs},
                {"batch", j.batch},
                {"optimizer", j.optimizer},
                {"momentum", j.momentum},
                {"weight_decay", j.weight_decay},
                {"schedule", j.schedule},
                {"warmup", j.warmup}}},
              {"condition",
               {{"topology", c.topology},
                {"partition", c.partition},
                {"slow", slow},
                {"jitter", c.jitter},
                {"link_mbit", c.link_mbit}}},
              {"strategy",
               {{"name", s.name},
                {"learning_rate", s.learning_rate},
                {"sweeps", s.sweeps},
                {"codec", s.codec}}},
              {"seed", cell.seed},
              {"time", name(cell.time)},
              {"tuning", cell.tuning}};
  if (j.nesterov) out["job"]["nesterov"] = true;
  if (s.by_buckets() || s.bucket_kib != 0) out["strategy"]["bucket_kib"] = s.bucket_kib;
  if (s.linger > 0) out["strategy"]["linger"] = s.linger;
  if (s.phase_lock > 0) out["strategy"]["phase_lock"] = s.phase_lock;
  if (s.overlap) out["strategy"]["overlap"] = true;
  if (s.turns) out["strategy"]["turns"] = true;
  if (s.mixes_statistics()) out["strategy"]["buffers"] = s.buffers;
  if (s.momentum_correction > 0) out["strategy"]["momentum_correction"] = s.momentum_correction;
  if (cell.time == TimeKind::kStandIn) {
    out["clockwork"] = {{"step_seconds", cell.clockwork.step_seconds}};
  }
  if (cell.time == TimeKind::kVirtual) {
    out["clockwork"] = {{"step_seconds", cell.clockwork.step_seconds},
                        {"latency", cell.clockwork.latency},
                        {"rate_mbit", cell.clockwork.rate_mbit}};
  }
  return out;
}

CellResult result_from(const json& j) {
  CellResult r;
  r.diverged = j.value("diverged", false);
  r.failure = j.value("failure", "");
  for (const json& point : j.at("curve")) r.curve.push_back(point_from(point));
  if (!j.at("mean_model").is_null()) r.mean_model = j.at("mean_model").get<double>();
  if (j.contains("unseen")) {
    const json& u = j.at("unseen");
    r.unseen = {.examples = u.at("examples"), .accuracy = u.at("accuracy"), .loss = u.at("loss")};
  }
  r.workers = j.at("workers").get<std::vector<double>>();
  r.consensus = j.at("consensus");
  r.samples = j.at("samples");
  r.training_seconds = j.at("training_seconds");
  r.bytes = j.at("bytes");
  r.model_bytes = j.at("model_bytes");
  r.steps_per_second = j.at("steps_per_second");
  r.wall_seconds = j.at("wall_seconds");
  r.machine = j.at("machine");
  r.version = j.at("version");
  return r;
}

ordered_json to_object(const CellResult& r) {
  ordered_json curve = ordered_json::array();
  for (const CurvePoint& point : r.curve) curve.push_back(point_json(point));
  ordered_json out = {
      {"diverged", r.diverged},
      {"failure", r.failure},
      {"mean_model", r.mean_model ? ordered_json(*r.mean_model) : ordered_json(nullptr)},
      {"workers", r.workers},
      {"consensus", r.consensus},
      {"samples", r.samples},
      {"training_seconds", r.training_seconds},
      {"bytes", r.bytes},
      {"model_bytes", r.model_bytes},
      {"steps_per_second", r.steps_per_second},
      {"wall_seconds", r.wall_seconds},
      {"machine", r.machine},
      {"version", r.version},
      {"curve", std::move(curve)}};
  if (r.unseen) {
    out["unseen"] = {{"examples", r.unseen->examples},
                     {"accuracy", r.unseen->accuracy},
                     {"loss", r.unseen->loss}};
  }
  return out;
}

std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// With "cell", which is null where the file holds none.
json parse_file(const std::filesystem::path& path) {
  json all = json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  if (!all.is_object()) all = json::object();
  all.emplace("cell", nullptr);
  return all;
}

/// Nothing where it does not tell what the cell asks for.
std::optional<CellResult> result_in(const json& all, const std::filesystem::path& path,
                                    const Cell& cell) {
  try {
    CellResult result = result_from(all.at("result"));
    const std::size_t judged = result.unseen ? result.unseen->examples : 0;
    if (cell.job.unseen > 0 && cell.job.unseen != judged && !result.diverged) return std::nullopt;
    return result;
  } catch (const json::exception& error) {
    throw FileError(path.string() + ": " + error.what(), "remove the file; the cell runs again");
  }
}

}  // namespace

std::string_view name(TimeKind kind) {
  switch (kind) {
    case TimeKind::kReal:
      return "real";
    case TimeKind::kVirtual:
      return "virtual";
    case TimeKind::kStandIn:
      return "stand-in";
  }
  return "?";
}

std::optional<TimeKind> parse_time_kind(std::string_view text) {
  for (const TimeKind kind : {TimeKind::kReal, TimeKind::kVirtual, TimeKind::kStandIn}) {
    if (text == name(kind)) return kind;
  }
  return std::nullopt;
}

std::string Strategy::mode() const {
  constexpr std::string_view kPrefix = "stencil-";
  if (!name.starts_with(kPrefix) || name == "stencil-gradients") return "";
  return name.substr(kPrefix.size());
}

int Cell::workers() const {
  return strategy.name == "single" ? 1 : stencil::Topology::parse(condition.topology).size();
}

std::uint64_t Cell::budget(std::size_t examples) const {
  return static_cast<std::uint64_t>(std::llround(job.epochs * static_cast<double>(examples)));
}

std::string to_json(const Cell& cell) {
  return describe(cell).dump(2);
}

std::string hash(const Cell& cell) {
  const std::string text = describe(cell).dump();
  return fmt::format("{:016x}", XXH64(text.data(), text.size(), 0));
}

std::string title(const Cell& cell) {
  return fmt::format("{} on {}, {}, rate {}, seed {}", cell.strategy.name, cell.condition.topology,
                     cell.condition.name, cell.strategy.learning_rate, cell.seed);
}

Cell cell_from_json(const std::string& text) {
  const json all = json::parse(text);
  Cell cell;
  const json& j = all.at("job");
  cell.job.model = j.at("model");
  cell.job.data = j.at("data");
  cell.job.examples = j.at("examples");
  cell.job.validation = j.at("validation");
  cell.job.epochs = j.at("epochs");
  cell.job.batch = j.at("batch");
  cell.job.optimizer = j.at("optimizer");
  cell.job.momentum = j.at("momentum");
  cell.job.weight_decay = j.at("weight_decay");
  cell.job.nesterov = j.value("nesterov", false);
  cell.job.schedule = j.at("schedule");
  cell.job.warmup = j.at("warmup");
  const json& c = all.at("condition");
  cell.condition.topology = c.at("topology");
  cell.condition.partition = c.at("partition");
  for (const auto& [rank, factor] : c.at("slow").items()) {
    cell.condition.slow[std::stoi(rank)] = factor.get<double>();
  }
  cell.condition.jitter = c.at("jitter");
  cell.condition.link_mbit = c.at("link_mbit");
  const json& s = all.at("strategy");
  cell.strategy = {.name = s.at("name"),
                   .learning_rate = s.at("learning_rate"),
                   .sweeps = s.at("sweeps"),
                   .usual_sweeps = false,
                   .sweeps_before = {},
                   .turns = s.value("turns", false),
                   .linger = s.value("linger", 0.0),
                   .phase_lock = s.value("phase_lock", 0.0),
                   .overlap = s.value("overlap", false),
                   .codec = s.at("codec"),
                   .bucket_kib = s.value("bucket_kib", 0),
                   .buffers = s.value("buffers", "local"),
                   .momentum_correction = s.value("momentum_correction", 0.0)};
  cell.seed = all.at("seed");
  cell.time = parse_time_kind(all.at("time").get<std::string>()).value();
  cell.tuning = all.at("tuning");
  if (all.contains("clockwork")) {
    const json& w = all.at("clockwork");
    cell.clockwork.step_seconds = w.at("step_seconds");
    cell.clockwork.latency = w.value("latency", 0.0);
    cell.clockwork.rate_mbit = w.value("rate_mbit", cell.clockwork.rate_mbit);
  }
  return cell;
}

std::string CellStore::stem(const Cell& cell) {
  std::string name = cell.strategy.name;
  std::ranges::replace(name, ':', '-');
  return fmt::format("{}-seed{}-", name, cell.seed);
}

std::string CellStore::file_name(const Cell& cell) {
  return stem(cell) + hash(cell) + ".json";
}

std::optional<CellResult> CellStore::find(const Cell& cell) const {
  const std::filesystem::path path = file(cell);
  if (!std::filesystem::exists(path)) return std::nullopt;
  const json all = parse_file(path);
  if (all.at("cell") != describe(cell)) return std::nullopt;
  return result_in(all, path, cell);
}

std::optional<CellResult> CellStore::find_by_any_clock(const Cell& cell) const {
  if (auto same = find(cell)) return same;
  if (!std::filesystem::exists(folder_)) return std::nullopt;
  json wanted = describe(cell);
  wanted.erase("clockwork");
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    if (entry.path().filename().string().starts_with(stem(cell))) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const std::filesystem::path& path : files) {
    json all = parse_file(path);
    if (all.at("cell").is_object()) all.at("cell").erase("clockwork");
    if (all.at("cell") != wanted) continue;
    if (auto result = result_in(all, path, cell)) return result;
  }
  return std::nullopt;
}

void CellStore::keep(const Cell& cell, const CellResult& result) const {
  std::filesystem::create_directories(folder_);
  const ordered_json all = {{"cell", describe(cell)}, {"result", to_object(result)}};
  write_atomically(file(cell), all.dump(1) + "\n");
}

}  // namespace fast::compare
