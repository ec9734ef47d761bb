#include "bench/compare/cell_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <vector>

#include "bench/compare/cell_json.h"
#include "fast/errors.h"
#include "fast/run/atomic_file.h"

namespace fast::compare {

FAST_JSON(CurvePoint, samples, seconds, bytes, accuracy, loss, consensus)
FAST_JSON(Unseen, examples, accuracy, loss)
FAST_JSON(CellResult, diverged, failure, mean_model, workers, consensus, samples, training_seconds,
          bytes, model_bytes, steps_per_second, wall_seconds, machine, version, curve, unseen)

namespace {

std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// The file's JSON, with "cell" set to null where the file has none.
json parse_file(const std::filesystem::path& path) {
  json all = json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  if (!all.is_object()) all = json::object();
  all.emplace("cell", nullptr);
  return all;
}

/// The result in a file; nothing where it lacks what the cell asks for.
std::optional<CellResult> result_in(const json& all, const std::filesystem::path& path,
                                    const Cell& cell) {
  try {
    CellResult result = all.at("result").get<CellResult>();
    const std::size_t judged = result.unseen ? result.unseen->examples : 0;
    if (cell.job.unseen > 0 && cell.job.unseen != judged && !result.diverged) return std::nullopt;
    return result;
  } catch (const json::exception& error) {
    throw FileError(path.string() + ": " + error.what(), "remove the file; the cell runs again");
  }
}

}  // namespace

std::string CellStore::stem(const Cell& cell) {
  std::string name = cell.strategy.name;
  std::ranges::replace(name, ':', '-');
  return fmt::format("{}-seed{}-", name, cell.seed);
}

std::string CellStore::file_name(const Cell& cell) {
  return stem(cell) + hash(cell) + ".json";
}

CellStore::CellStore(std::filesystem::path folder, std::vector<std::filesystem::path> others)
    : folders_(std::move(others)) {
  folders_.insert(folders_.begin(), std::move(folder));
}

std::optional<CellResult> CellStore::find(const Cell& cell) const {
  const std::string name = file_name(cell);
  const json wanted = describe(cell);
  for (const std::filesystem::path& folder : folders_) {
    const std::filesystem::path path = folder / name;
    if (!std::filesystem::exists(path)) continue;
    const json all = parse_file(path);
    if (all.at("cell") != wanted) continue;
    if (auto result = result_in(all, path, cell)) return result;
  }
  return std::nullopt;
}

std::optional<CellResult> CellStore::find_by_any_clock(const Cell& cell) const {
  if (auto same = find(cell)) return same;
  json wanted = describe(cell);
  wanted.erase("clockwork");
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path& folder : folders_) {
    if (!std::filesystem::exists(folder)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().filename().string().starts_with(stem(cell))) files.push_back(entry.path());
    }
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
  std::filesystem::create_directories(folders_.front());
  ordered_json all = {{"cell", describe(cell)}, {"result", result}};
  if (!result.unseen) all["result"].erase("unseen");
  write_atomically(folders_.front() / file_name(cell), all.dump(1) + "\n");
}

}  // namespace fast::compare
