#include "fast/report/report.h"

#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "fast/errors.h"
#include "fast/report/mean_model.h"
#include "fast/run/atomic_file.h"
#include "fast/run/run_folder.h"
#include "fast/run/run_records.h"
#include "fast/run/safetensors.h"

namespace fast {
namespace {

/// The configuration as it was run: the first one found.
std::string read_config(const std::vector<std::filesystem::path>& dirs) {
  for (const auto& dir : dirs) {
    std::ifstream in(RunFolder(dir).config(), std::ios::binary);
    if (in) return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  return {};
}

/// Of these ranks. Evaluated where `evaluate` is given.
template <typename Attempt>
std::optional<BestModel> save_best(const RunRecords& records, const std::vector<int>& ranks,
                                   const std::filesystem::path& file, const EvaluateFn& evaluate,
                                   const Attempt& attempt) {
  std::optional<MeanModel> mean = best_model(records, ranks);
  if (!mean) {
    std::error_code none;
    std::filesystem::remove(file, none);  // of an earlier report
    return std::nullopt;
  }
  mean->metadata["mean_of_ranks"] = nlohmann::json(mean->ranks).dump();
  BestModel best;
  best.file = file.filename().string();
  best.evaluation = mean->metadata[kEvaluationKey];
  best.ranks = mean->ranks;
  const std::vector<NamedTensor> tensors = mean->views();
  if (evaluate) {
    try {
      const MeanResult result = evaluate(tensors);
      if (!std::isnan(result.accuracy)) best.accuracy = result.accuracy;
      best.loss = result.loss;
    } catch (const DataError&) {  // as the mean model's, which says why
    }
  }
  if (!attempt([&] { save_safetensors(file, tensors, mean->metadata); })) return std::nullopt;
  return best;
}

}  // namespace

Report write_report(const std::vector<std::filesystem::path>& dirs,
                    const std::filesystem::path& out, const EvaluateFn& evaluate,
                    const LaunchRecord& launch, std::vector<Setting> settings) {
  const RunRecords records = read_run(dirs);
  const RunFolder folder(out);
  Report report;
  const auto attempt = [&report](const auto& write) {
    try {
      write();
      return true;
    } catch (const FileError& error) {
      report.unwritten = error.what();
      return false;
    }
  };
  attempt([&] { make_writable_folder(out); });
  Evaluation evaluation;
  evaluation.launch = launch;
  MeanModels means = mean_models(records);
  evaluation.left_out = std::move(means.left_out);
  // A mean model of an earlier report would be taken for this one's. It goes when the new ones
  // stand.
  std::vector<std::filesystem::path> earlier = folder.means();
  bool all_saved = true;
  for (std::size_t i = 0; i < means.parts.size(); ++i) {
    MeanModel& mean = means.parts[i];
    mean.metadata["mean_of_ranks"] = nlohmann::json(mean.ranks).dump();
    if (means.parts.size() > 1) evaluation.islands.push_back(mean.ranks);
    const auto file = i == 0 ? folder.mean() : folder.mean_of(mean.ranks.front());
    const auto save = [&] { save_safetensors(file, mean.views(), mean.metadata); };
    bool saved = attempt(save);
    all_saved &= saved;
    std::erase(earlier, file);
    if (i > 0) continue;
    evaluation.consensus_distance = mean.consensus_distance;
    if (evaluate) {
      try {
        const MeanResult result = evaluate(mean.views());
        if (!std::isnan(result.accuracy)) evaluation.mean_model = result.accuracy;
        evaluation.mean_loss = result.loss;
        evaluation.chance = result.chance;
        evaluation.measure = result.measure;
        saved = attempt(save);
      } catch (const DataError& error) {
        evaluation.not_evaluated = error.what();
      }
    }
    if (saved) evaluation.model_file = file.filename().string();
    evaluation.best = save_best(records, mean.ranks, folder.best(), evaluate, attempt);
  }

  if (all_saved) {
    for (const std::filesystem::path& file : earlier) std::filesystem::remove(file);
  }
  report.summary = summarise(records, evaluation);
  attempt([&] { write_atomically(folder.summary(), to_json(report.summary)); });
  attempt([&] {
    const Configuration config{std::move(settings), read_config(dirs)};
    write_atomically(folder.page(), render_page(records, report.summary, config));
  });
  return report;
}

}  // namespace fast
