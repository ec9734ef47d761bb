#include "bench/compare/cell_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <utility>
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

constexpr char kSuffix[] = ".jsonl";

namespace fs = std::filesystem;

struct Line {
  fs::path file;
  std::string text;
};

/// The beginning of a cell's line, up to and without the cell.
std::string head(const std::string& name) {
  return R"({"name":")" + name + R"(",)";
}

/// "STRATEGY-seedN-", the beginning of names.
std::string stem(const Cell& cell) {
  std::string name = cell.strategy.name;
  std::ranges::replace(name, ':', '-');
  return fmt::format("{}-seed{}-", name, cell.seed);
}

std::vector<std::string> lines_of(const fs::path& file) {
  std::vector<std::string> out;
  std::ifstream in(file, std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) out.push_back(std::move(line));
  }
  return out;
}

/// The lines in all files of a folder that contain this text; files ordered by name.
std::vector<Line> lines_with(const std::string& text, const fs::path& folder) {
  std::vector<fs::path> files;
  if (fs::exists(folder)) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == kSuffix) files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  std::vector<Line> out;
  for (const fs::path& file : files) {
    for (std::string& line : lines_of(file)) {
      if (line.find(text) != std::string::npos) out.push_back({file, std::move(line)});
    }
  }
  return out;
}

/// A line's JSON, with "name" and "cell" set to null where it has none.
json parse(const Line& line) {
  json all = json::parse(line.text, nullptr, /*allow_exceptions=*/false);
  if (!all.is_object()) all = json::object();
  for (const char* const key : {"name", "cell"}) all.emplace(key, nullptr);
  return all;
}

/// The result in a line; nothing where it lacks what the cell asks for.
std::optional<CellResult> result_in(const json& all, const fs::path& file, const Cell& cell) {
  try {
    CellResult result = all.at("result").get<CellResult>();
    const std::size_t judged = result.unseen ? result.unseen->examples : 0;
    if (cell.job.unseen > 0 && cell.job.unseen != judged && !result.diverged) return std::nullopt;
    return result;
  } catch (const json::exception& error) {
    throw FileError(fmt::format("{}: {}: {}", file.string(), all.at("name").dump(), error.what()),
                    "remove the line; the cell runs again");
  }
}

/// Keeps other processes and threads from writing into a folder; waits for those that do. On a file
/// system without locks it keeps out nobody.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder)
      : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    while (::flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~FolderLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace

std::string CellStore::name(const Cell& cell) {
  return stem(cell) + hash(cell);
}

CellStore::CellStore(fs::path folder, std::vector<fs::path> others) : folders_(std::move(others)) {
  folders_.insert(folders_.begin(), std::move(folder));
}

std::optional<CellResult> CellStore::find(const Cell& cell) const {
  const std::string text = name(cell);
  const json wanted = describe(cell);
  for (const fs::path& folder : folders_) {
    for (const Line& line : lines_with(text, folder)) {
      const json all = parse(line);
      if (all.at("name") != text || all.at("cell") != wanted) continue;
      if (auto result = result_in(all, line.file, cell)) return result;
    }
  }
  return std::nullopt;
}

std::optional<CellResult> CellStore::find_by_any_clock(const Cell& cell) const {
  if (auto same = find(cell)) return same;
  json wanted = describe(cell);
  wanted.erase("clockwork");
  std::vector<std::pair<json, fs::path>> candidates;
  for (const fs::path& folder : folders_) {
    for (const Line& line : lines_with(stem(cell), folder)) {
      json all = parse(line);
      if (all.at("cell").is_object()) all.at("cell").erase("clockwork");
      if (all.at("cell") == wanted) candidates.emplace_back(std::move(all), line.file);
    }
  }
  std::ranges::stable_sort(candidates, {},
                           [](const auto& one) { return one.first.at("name").dump(); });
  for (const auto& [all, file] : candidates) {
    if (auto result = result_in(all, file, cell)) return result;
  }
  return std::nullopt;
}

void CellStore::keep(const std::string& comparison, const Cell& cell,
                     const CellResult& result) const {
  make_writable_folder(folders_.front());
  const FolderLock lock(folders_.front());
  const fs::path file = folders_.front() / (comparison + kSuffix);
  ordered_json all = {{"name", name(cell)}, {"cell", describe(cell)}, {"result", result}};
  if (!result.unseen) all["result"].erase("unseen");
  std::vector<std::string> lines = lines_of(file);
  std::erase_if(lines, [&](const std::string& line) { return line.starts_with(head(name(cell))); });
  lines.push_back(all.dump());
  std::ranges::sort(lines);
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  write_atomically(file, fmt::format("{}\n", fmt::join(lines, "\n")));
}

}  // namespace fast::compare
