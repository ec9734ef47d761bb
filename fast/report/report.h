#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "fast/adapter.h"
#include "fast/report/page.h"
#include "fast/run/summary.h"

namespace fast {

/// Of the mean model on the test set; see TestResult.
struct MeanResult {
  double accuracy = 0;  ///< a fraction; NaN: there is no right and wrong
  double loss = 0;
  double chance = 0;  ///< a fraction
  Measure measure{};
};

/// Evaluates the mean model. The program loads the tensors into its
/// framework, re-estimates what is not exchanged (BatchNorm's running statistics) and evaluates. It
/// may write to the tensors' bytes, which are then saved. Exceptions other than DataError pass
/// through.
using EvaluateFn = std::function<MeanResult(std::span<const NamedTensor> mean_model)>;

struct Report {
  Summary summary;
  std::string unwritten;  ///< the file that could not be written, and why; empty: all were written
};

/// Gathers the worker folders below `dirs` (see run_records.h) and writes mean.safetensors (the
/// mean model), mean-of-K.safetensors (of the other parts of a run that fell apart), summary.json
/// and report.html into `out`, each complete or not at all. The mean model is saved before it is
/// evaluated, and again with the changes that `evaluate` made. Where `evaluate` is empty, the mean
/// model is not evaluated; where it throws DataError, the report gives that as the reason.
/// `settings` are shown on the page. Throws FileError for files that cannot be read.
Report write_report(const std::vector<std::filesystem::path>& dirs,
                    const std::filesystem::path& out, const EvaluateFn& evaluate,
                    const LaunchRecord& launch = {}, std::vector<Setting> settings = {});

}  // namespace fast
