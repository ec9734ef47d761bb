#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fast/train/models.h"
#include "fast/train/worker_config.h"

namespace CLI {
class App;
}  // namespace CLI

namespace fast {

/// Which options a program has. kShared is what launcher and worker have in common and what a run
/// folder's config.toml holds, so that either program reads it with --config.
enum class OptionSet { kTrain, kWorker, kShared };

/// The defaults of the programs: those of WorkerConfig, but threads = 0 (chosen by the program) and
/// the first of `models` where the usual one is not among them.
[[nodiscard]] TrainConfig default_config(const Models& models);

/// Adds every option of `set` to `app`, bound to `config` (which must outlive the parsing), with
/// --config FILE (TOML) and an environment variable each (FAST_LEARNING_RATE for --learning-rate).
/// A flag wins over the file, the file over the environment; of a flag given twice the last
/// counts. A key of the file that is no option of `set` is a ConfigError that names file, line and
/// key.
/// Returns how values of an option begin, by flag.
std::map<std::string, std::vector<std::string>> bind_options(CLI::App& app, TrainConfig& config,
                                                             OptionSet set, const Models& models);

/// --print-config, which is no option of a run and so of no file.
void add_print_config(CLI::App& app, bool& wish);

/// Parses `args` (without the program's name). Returns an exit code where there is nothing left to
/// do (--help and --version, printed to stdout). Throws ConfigError for everything else that
/// CLI11 objects to.
std::optional<int> parse_arguments(CLI::App& app, const std::vector<std::string>& args);

/// A complete TOML file: each option of `set` with its group, meaning and value. Reading it back
/// gives the same values to the last bit.
[[nodiscard]] std::string to_toml(const TrainConfig& config, OptionSet set, const Models& models);

/// A config.toml as to_toml() wrote it (kShared), over the defaults; no environment. Throws
/// ConfigError, FileError.
[[nodiscard]] TrainConfig read_config_file(const std::string& file, const Models& models);

/// An app with our formatter, --version and a footer of examples.
void set_conventions(CLI::App& app, const std::string& examples);

}  // namespace fast
