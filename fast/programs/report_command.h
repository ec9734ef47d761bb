#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "fast/exit_codes.h"
#include "fast/run/summary.h"
#include "fast/train/models.h"
#include "fast/train/worker_config.h"

namespace CLI {
class App;
}

namespace fast {

/// The options of fast report.
struct ReportQuery {
  std::vector<std::string> dirs;
  std::string out, data, model, worker_program;
};

void bind_report_options(CLI::App& app, ReportQuery& query);

/// fast report DIR...: gathers worker folders from any machines, makes the mean model, re-estimates
/// its normalisation statistics, evaluates it, writes summary and page. Returns an exit code;
/// throws what run_guarded() catches.
int report_command(const std::vector<std::string>& args, const Models& models);

/// The configuration of a run: that of the first folder that has one of the run's model, otherwise
/// what the workers' own records say. Throws FileError where there are none.
[[nodiscard]] WorkerConfig find_config(const std::vector<std::filesystem::path>& dirs,
                                       const Models& models);

/// The same for a run whose configuration is known; prints the summary to `out`. Where the data set
/// cannot be read, or the model is a program's own (no name), the mean model is not evaluated;
/// where model or data are those of another worker program, `worker_program` evaluates it. Returns
/// kOk, kWorkerLost where a worker's model is not in the mean or a worker has not ended, or kFile
/// where a file could not be written, which is reported last. A signal to end ends the evaluation
/// alone.
ExitCode report_run(const std::vector<std::filesystem::path>& dirs,
                    const std::filesystem::path& folder, const WorkerConfig& config,
                    const Models& models, const LaunchRecord& launch, std::ostream& out,
                    const std::string& worker_program = "");

}  // namespace fast
