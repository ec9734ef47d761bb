#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fast/run/measure.h"
#include "fast/run/run_records.h"
#include "fast/run/totals.h"

namespace fast {

/// Samples over all workers; of a run of fewer it is not said that it has learnt nothing.
inline constexpr double kJudgedFrom = 3200;

/// What whoever started the workers saw of them, by rank.
struct LaunchRecord {
  std::map<int, int> exit_codes{};  ///< 128 + n for signal n
  std::map<int, int> restarts{};    ///< how often it was started again
};

/// The mean of the best models that workers have kept.
struct BestModel {
  std::string file;                      ///< relative to the run folder
  std::string evaluation;                ///< which one it was, see kEvaluationKey
  std::vector<int> ranks;                ///< whose models are in it
  std::optional<double> accuracy, loss;  ///< on the test set; nothing where it is not evaluated
};

/// Results that need the models themselves.
struct Evaluation {
  std::optional<double> mean_model;  ///< accuracy of the mean model, a fraction
  std::optional<double> mean_loss;   ///< of the mean model on the test set
  Measure measure{};                 ///< likewise
  double chance = 0;                 ///< the accuracy that chance makes, where that is known
  std::optional<double> consensus_distance;  ///< see mean_model.h
  std::string not_evaluated;      ///< why there is no accuracy of the mean model; empty: there is
  std::vector<LeftOut> left_out;  ///< see mean_model.h
  std::vector<std::vector<int>> islands;  ///< see Summary
  std::optional<std::string> model_file;  ///< of the mean model, relative to the run folder
  std::optional<BestModel> best;
  LaunchRecord launch;
};

/// Fractions of the test set.
struct TestAccuracies {
  std::optional<double> mean_model;
  std::optional<double> worker_min, worker_max;  ///< over the workers that have one
  std::vector<std::optional<double>> workers;    ///< by rank
};

/// The content of summary.json. Value type. std::nullopt is null there, for example the accuracy of
/// a lost worker.
struct Summary {
  std::string run_id, version, topology, mode, model, data;
  int workers = 0;
  double epochs = 0;
  stencil::ExchangeOptions exchange;  ///< of the lowest rank
  std::uint64_t samples = 0;          ///< over all workers and all their lives
  std::uint64_t aim = 0;              ///< that all together were to make; 0: not known
  std::vector<std::uint64_t> samples_by_rank;
  /// Workers that were lost or ended with an error, and have made fewer samples than the others.
  /// The others' progress counts them as going on.
  std::vector<int> short_ranks;
  /// Of the worker that took longest, over all its lives and by its own clock: from its start to
  /// its last line, and until it was done training. What lay between two lives does not count.
  double wall_seconds = 0, training_seconds = 0;
  double samples_per_second = 0;  ///< samples / training_seconds

  TestAccuracies test_accuracy;
  std::optional<double> test_loss;  ///< of the mean model
  Measure test_measure;             ///< of the mean model
  std::optional<double> consensus_distance;

  std::uint64_t sweeps_completed = 0;  ///< over all workers; a sweep counts where it was begun
  std::uint64_t bytes_sent = 0;        ///< headers included
  std::uint64_t bytes_shared = 0;      ///< bytes averaged in shared memory, within hosts
  /// Training threads' time inside exchange() over their time in all, over all workers.
  double exchange_share = 0;
  std::vector<std::optional<int>> exit_codes;  ///< by rank; nothing where it is not known
  std::vector<int> lost_ranks;                 ///< died without an "end" line and did not come back
  std::vector<int> restarted_ranks;            ///< started more than once
  std::vector<int> restarts;                   ///< by rank: lives after the first
  std::vector<int> older_run_ranks;            ///< whose folders hold an older run, not counted
  std::vector<LeftOut> left_out;               ///< whose models are not in the mean, and why
  /// Where the run fell apart, the ranks of each part, the largest first. The mean model is that of
  /// the first part. Empty where all models met.
  std::vector<std::vector<int>> islands;
  std::string
      not_evaluated;       ///< why the mean model has no accuracy; empty: it has, or was not asked
  std::string not_learnt;  ///< why the result is no good though all ended well; empty: it is good
  std::vector<EdgeTotals> edges;
  std::optional<std::string> model_file;  ///< the mean model's file; nothing where none was saved
  std::optional<BestModel> best;          ///< nothing where none was kept

  /// Whether every worker has ended and its model is in the mean.
  [[nodiscard]] bool whole() const {
    return left_out.empty() && islands.empty() && lost_ranks.empty();
  }
};

/// "1, 2 and 4, 5".
[[nodiscard]] std::string names_of(const std::vector<std::vector<int>>& islands);

[[nodiscard]] Summary summarise(const RunRecords& records, const Evaluation& evaluation);

/// summary.json and back. from_json throws FileError, naming `name`.
[[nodiscard]] std::string to_json(const Summary& summary);
[[nodiscard]] Summary summary_from_json(std::string_view text, const std::string& name);

}  // namespace fast
