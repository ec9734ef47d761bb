#pragma once

#include <atomic>
#include <filesystem>
#include <iosfwd>
#include <span>
#include <string>

#include "fast/adapter.h"
#include "fast/train/evaluation.h"
#include "fast/train/models.h"
#include "fast/train/worker_config.h"

namespace fast {

// What `fast` asks a worker program that knows models or data sets which it does not know itself,
// and how fast::worker_main answers: by --describe and by --evaluate FILE, which no help shows.

/// Answers --describe: a JSON object with the names of models and the names and forms of data sets.
void describe(const Models& models, std::ostream& out);
/// What the program answers, as names alone: it neither makes nor loads any of them here. Throws
/// ConfigError where it gives no such answer.
[[nodiscard]] Models kinds_of(const std::string& program);

/// Answers --evaluate FILE: evaluates the model in the file, writes its new statistics into it, and
/// prints a JSON object.
void evaluate_file(const std::string& file, const WorkerConfig& config, const Models& models,
                   std::ostream& out);
/// Has the program evaluate these tensors, through a file in `folder`, and takes over statistics.
/// Throws DataError where it cannot, and where `stop` became true.
[[nodiscard]] TestResult evaluate_by(const std::string& program, const WorkerConfig& config,
                                     std::span<const NamedTensor> tensors,
                                     const std::filesystem::path& folder,
                                     const std::atomic<bool>& stop);

}  // namespace fast
