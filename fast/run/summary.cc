#include "fast/run/summary.h"

#include <algorithm>
#include <cmath>

#include "fast/exit_codes.h"

namespace fast {
namespace {

/// A worker that has made less than this part of what the others did in the mean has not made its
/// share.
constexpr double kShort = 0.95;

/// The launcher's exit code. For a worker that had several lives, the worker's own record counts,
/// since the launcher may not have watched the last life.
std::optional<int> exit_code_of(const WorkerRecords* worker, int rank,
                                const std::map<int, int>& seen) {
  const auto it = seen.find(rank);
  const bool restarted = worker != nullptr && worker->history.starts > 1;
  if (it != seen.end() && !restarted) return it->second;
  if (worker != nullptr && worker->history.end) return worker->history.end->exit_code;
  if (it != seen.end()) return it->second;
  return std::nullopt;
}

/// The launcher knows of lives that ended before their first line, the worker's own record of those
/// that were started by hand.
int restarts_of(const WorkerRecords* worker, int rank, const std::map<int, int>& seen) {
  const auto it = seen.find(rank);
  return std::max(
      {0, it == seen.end() ? 0 : it->second, worker == nullptr ? 0 : worker->history.restarts()});
}

void add_accuracies(Summary& summary, const std::optional<double>& accuracy) {
  const bool known = accuracy && std::isfinite(*accuracy);
  summary.test_accuracy.workers.push_back(known ? accuracy : std::nullopt);
  if (!known) return;
  TestAccuracies& all = summary.test_accuracy;
  all.worker_min = std::min(all.worker_min.value_or(*accuracy), *accuracy);
  all.worker_max = std::max(all.worker_max.value_or(*accuracy), *accuracy);
}

/// See Summary::aim. What a worker takes for the network's samples and progress gives it where no
/// budget was said; at its end progress is cut off at 1.
std::uint64_t aim_of(const RunRecords& records) {
  if (records.start().budget > 0) return records.start().budget;
  for (const WorkerRecords& worker : records.workers) {
    const auto& lines = worker.history.progress;
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
      const double aim = line->network_samples / line->progress;
      if (line->progress > 0 && line->progress < 1 && aim >= 1 && aim < 1e18) {
        return static_cast<std::uint64_t>(std::llround(aim));
      }
    }
  }
  return 0;
}

/// See Summary::short_ranks.
std::vector<int> short_ranks(const Summary& summary) {
  const auto ended_well = [&](std::size_t rank) {
    const std::optional<int>& code = summary.exit_codes[rank];
    const bool lost = std::ranges::count(summary.lost_ranks, static_cast<int>(rank)) > 0;
    return !lost && (code == 0 || code == static_cast<int>(ExitCode::kInterrupted));
  };
  double others = 0;
  int count = 0;
  for (std::size_t rank = 0; rank < summary.samples_by_rank.size(); ++rank) {
    if (!ended_well(rank)) continue;
    others += static_cast<double>(summary.samples_by_rank[rank]);
    ++count;
  }
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < summary.samples_by_rank.size(); ++rank) {
    const auto own = static_cast<double>(summary.samples_by_rank[rank]);
    if (!ended_well(rank) && own * count < kShort * others) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

/// See Summary::not_learnt.
std::string not_learnt(const RunRecords& records, const Evaluation& evaluation, double samples) {
  const bool by_chance = evaluation.mean_model && *evaluation.mean_model <= evaluation.chance;
  if (by_chance && samples >= kJudgedFrom) {
    return "the mean model has learnt nothing: its accuracy is that of chance";
  }
  for (const WorkerRecords& worker : records.workers) {
    const std::optional<WorkerEnd>& end = worker.history.end;
    if (!end || end->exit_code != static_cast<int>(ExitCode::kNotLearnt)) continue;
    return "worker " + std::to_string(worker.rank) + ": " + end->text;
  }
  return {};
}

}  // namespace

std::string names_of(const std::vector<std::vector<int>>& islands) {
  std::string text;
  for (std::size_t i = 0; i < islands.size(); ++i) {
    if (i > 0) text += i + 1 == islands.size() ? " and " : "; ";
    for (std::size_t k = 0; k < islands[i].size(); ++k) {
      text += (k == 0 ? "" : ", ") + std::to_string(islands[i][k]);
    }
  }
  return text;
}

Summary summarise(const RunRecords& records, const Evaluation& evaluation) {
  const WorkerStart& start = records.start();
  Summary summary;
  summary.run_id = start.run_id;
  summary.version = start.version;
  summary.topology = start.topology;
  summary.mode = start.mode;
  summary.exchange = start.exchange;
  summary.model = start.model;
  summary.data = start.data;
  summary.workers = records.expected;
  summary.epochs = start.epochs;
  summary.test_accuracy.mean_model = evaluation.mean_model;
  summary.test_loss = evaluation.mean_loss;
  summary.test_measure = evaluation.measure;
  summary.consensus_distance = evaluation.consensus_distance;
  summary.left_out = evaluation.left_out;
  summary.islands = evaluation.islands;
  summary.not_evaluated = evaluation.not_evaluated;
  summary.model_file = evaluation.model_file;
  summary.best = evaluation.best;
  summary.edges = edge_totals(records);

  double exchange = 0, training = 0;
  for (int rank = 0; rank < records.expected; ++rank) {
    const WorkerRecords* worker = records.find(rank);
    summary.exit_codes.push_back(exit_code_of(worker, rank, evaluation.launch.exit_codes));
    const int restarts = restarts_of(worker, rank, evaluation.launch.restarts);
    summary.restarts.push_back(restarts);
    if (restarts > 0) summary.restarted_ranks.push_back(rank);
    if (worker == nullptr) {
      summary.lost_ranks.push_back(rank);
      summary.samples_by_rank.push_back(0);
      summary.test_accuracy.workers.emplace_back();
      continue;
    }
    if (!worker->history.end) summary.lost_ranks.push_back(rank);
    if (worker->history.older_runs > 0) summary.older_run_ranks.push_back(rank);

    const WorkerTotals totals = totals_of(worker->history);
    add_accuracies(summary, totals.test_accuracy);
    summary.samples += totals.samples;
    summary.samples_by_rank.push_back(totals.samples);
    summary.sweeps_completed += totals.sweeps;
    summary.bytes_sent += totals.bytes;
    summary.bytes_shared += totals.bytes_shared;
    exchange += totals.exchange_seconds;
    training += totals.training_seconds;
    summary.wall_seconds = std::max(summary.wall_seconds, totals.last_time);
    summary.training_seconds = std::max(summary.training_seconds, totals.trained_until);
  }
  summary.aim = aim_of(records);
  summary.short_ranks = short_ranks(summary);
  summary.not_learnt = not_learnt(records, evaluation, static_cast<double>(summary.samples));
  // A run too short to have written a line while training.
  if (summary.training_seconds <= 0) summary.training_seconds = summary.wall_seconds;
  if (summary.training_seconds > 0) {
    summary.samples_per_second = static_cast<double>(summary.samples) / summary.training_seconds;
  }
  if (training > 0) summary.exchange_share = exchange / training;
  return summary;
}

}  // namespace fast
