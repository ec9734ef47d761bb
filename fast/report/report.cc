#include "fast/report/report.h"

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "fast/report/mean_model.h"
#include "fast/report/page.h"
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

}  // namespace

Summary write_report(const std::vector<std::filesystem::path>& dirs,
                     const std::filesystem::path& out, const EvaluateFn& evaluate,
                     const std::map<int, int>& exit_codes) {
  const RunRecords records = read_run(dirs);
  make_writable_folder(out);
  const RunFolder folder(out);

  Evaluation evaluation;
  evaluation.exit_codes = exit_codes;
  if (auto mean = mean_model(records)) {
    const std::vector<NamedTensor> tensors = mean->views();
    if (evaluate) evaluation.mean_model = evaluate(tensors);
    evaluation.consensus_distance = mean->consensus_distance;
    evaluation.excluded = mean->excluded;
    evaluation.model_file = folder.model().filename().string();
    mean->metadata["mean_of_ranks"] = nlohmann::json(mean->ranks).dump();
    save_safetensors(folder.model(), tensors, mean->metadata);
  } else {
    // A mean model of an earlier report would be taken for this one's.
    std::filesystem::remove(folder.model());
  }

  Summary summary = summarise(records, evaluation);
  write_atomically(folder.summary(), to_json(summary));
  write_atomically(folder.page(), render_page(records, summary, read_config(dirs)));
  return summary;
}

}  // namespace fast
