#include "fast/run/run_records.h"

#include <algorithm>
#include <map>
#include <system_error>

#include "fast/errors.h"
#include "fast/run/run_folder.h"

namespace fast {
namespace {

namespace fs = std::filesystem;

using Folders = std::map<int, fs::path>;

void add(Folders& folders, int rank, const fs::path& folder) {
  const auto [it, inserted] = folders.emplace(rank, folder);
  if (!inserted) {
    throw FileError("worker " + std::to_string(rank) + " is there twice: " + it->second.string() +
                        " and " + folder.string(),
                    "give each worker's folder once, and folders of one run only");
  }
}

Folders find_folders(std::span<const fs::path> run_dirs) {
  Folders folders;
  std::string searched;
  for (fs::path dir : run_dirs) {
    if (!dir.has_filename()) dir = dir.parent_path();  // "runs/first/"
    searched += (searched.empty() ? "" : ", ") + dir.string();
    if (const auto rank = worker_rank(dir); rank && fs::is_directory(dir)) {
      add(folders, *rank, dir);
      continue;
    }
    std::error_code error;
    fs::directory_iterator entries(dir, error);
    if (error) {
      throw FileError("cannot read the folder " + dir.string() + ": " + error.message(),
                      "give the run folders that hold worker-0, worker-1, ...");
    }
    for (const fs::directory_entry& entry : entries) {
      if (const auto rank = worker_rank(entry.path()); rank && entry.is_directory()) {
        add(folders, *rank, entry.path());
      }
    }
  }
  if (folders.empty()) {
    throw FileError("no worker-K folder in " + searched,
                    "give the run folders that hold worker-0, worker-1, ...");
  }
  return folders;
}

/// Throws FileError where it has left no readable "start" line.
WorkerRecords read_worker(int rank, const fs::path& folder) {
  const fs::path metrics = folder / "metrics.jsonl";
  WorkerRecords worker{rank, folder, read_metrics(metrics), std::nullopt};
  std::error_code unknown;
  if (fs::path model = folder / "model.safetensors";
      fs::exists(fs::symlink_status(model, unknown))) {
    worker.model = model;
  }
  return worker;
}

void check_rank(const WorkerRecords& worker) {
  if (worker.history.start.rank == worker.rank) return;
  throw FileError((worker.folder / "metrics.jsonl").string() + " is of rank " +
                      std::to_string(worker.history.start.rank),
                  "rename its folder back to worker-" + std::to_string(worker.history.start.rank));
}

void check_same_run(const WorkerRecords& a, const WorkerRecords& b) {
  const auto check = [&](const char* what, const std::string& in_a, const std::string& in_b) {
    if (in_a == in_b) return;
    throw FileError(a.folder.string() + " and " + b.folder.string() + " are of different runs: " +
                        what + " \"" + in_a + "\" and \"" + in_b + "\"",
                    "give folders of one run only");
  };
  const WorkerStart& x = a.history.start;
  const WorkerStart& y = b.history.start;
  check("run id", x.run_id, y.run_id);
  check("topology", x.topology, y.topology);
  check("workers", std::to_string(x.workers), std::to_string(y.workers));
  check("mode", x.mode, y.mode);
  check("model", x.model, y.model);
}

}  // namespace

const WorkerRecords* RunRecords::find(int rank) const {
  const auto it = std::lower_bound(workers.begin(), workers.end(), rank,
                                   [](const WorkerRecords& w, int r) { return w.rank < r; });
  return it != workers.end() && it->rank == rank ? &*it : nullptr;
}

RunRecords read_run(std::span<const fs::path> run_dirs) {
  const Folders folders = find_folders(run_dirs);
  RunRecords records;
  std::map<int, std::string> unreadable;
  for (const auto& [rank, folder] : folders) {
    try {
      records.workers.push_back(read_worker(rank, folder));
    } catch (const FileError& error) {
      unreadable[rank] = error.what();
      continue;
    }
    check_rank(records.workers.back());
    check_same_run(records.workers.front(), records.workers.back());
  }
  if (records.workers.empty()) {
    throw FileError("no worker below " + folders.begin()->second.parent_path().string() +
                        " has written its metrics",
                    "see the log.txt of each worker for the reason");
  }
  records.expected = records.start().workers;
  for (const WorkerRecords& worker : records.workers) {
    if (worker.rank >= records.expected) {
      throw FileError(worker.folder.string() + " is of a rank outside the run's " +
                          std::to_string(records.expected) + " workers",
                      "give folders of one run only");
    }
  }
  for (int rank = 0; rank < records.expected; ++rank) {
    if (records.find(rank) != nullptr) continue;
    const auto it = unreadable.find(rank);
    records.missing.push_back({rank, it != unreadable.end()
                                         ? it->second
                                         : "there is no folder worker-" + std::to_string(rank)});
  }
  return records;
}

}  // namespace fast
