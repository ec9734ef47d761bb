#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "fast/adapter.h"
#include "fast/run/summary.h"

namespace fast {

/// Accuracy of the mean model on the test set, a fraction. The program loads the tensors into its
/// framework, re-estimates what is not exchanged (BatchNorm's running statistics) and evaluates. It
/// may write to the tensors' bytes: they are saved as it leaves them. What it throws goes through,
/// but DataError.
using EvaluateFn = std::function<double(std::span<const NamedTensor> mean_model)>;

struct Report {
  Summary summary;
  std::string unwritten;  ///< which file could not be written, and why; empty: all were
};

/// Gathers the worker folders below `dirs` (see run_records.h) and writes mean.safetensors (the
/// mean model), mean-of-K.safetensors (of the other parts of a run that fell apart), summary.json
/// and report.html into `out`, each whole or not at all. The mean model is saved before it is
/// evaluated, and again with what `evaluate` writes to it. `evaluate` may be empty: then the mean
/// model is not evaluated; a DataError of its is kept as the reason. `exit_codes` is what a
/// launcher saw: rank -> exit code, 128 + n for signal n. Throws FileError for what cannot be read.
Report write_report(const std::vector<std::filesystem::path>& dirs,
                    const std::filesystem::path& out, const EvaluateFn& evaluate,
                    const std::map<int, int>& exit_codes = {});

}  // namespace fast
