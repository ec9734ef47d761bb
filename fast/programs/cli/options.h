#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fast/report/page.h"
#include "fast/train/models.h"
#include "fast/train/worker_config.h"

namespace CLI {
class App;
}  // namespace CLI

namespace fast {

/// A set of options. kShared are those that launcher and worker have in common and that a run
/// folder's config.toml holds, so that either program reads it with --config.
enum class OptionSet { kTrain, kWorker, kShared };

/// The defaults of the programs: those of WorkerConfig, but threads = 0 (chosen by the program) and
/// the first of `models` where the usual one is not among them.
[[nodiscard]] TrainConfig default_config(const Models& models);

/// Adds every option of `set` to `app`, bound to `config` (which must outlive the parsing), with
/// --config FILE (TOML) and an environment variable each (FAST_LEARNING_RATE for --learning-rate).
/// A flag wins over the file, the file over the environment; of a flag given twice the last counts.
/// Parsing throws ConfigError, naming file, line and key, for a key of the file that is not an
/// option of `set`. Returns the beginnings of each option's values, by flag.
std::map<std::string, std::vector<std::string>> bind_options(CLI::App& app, TrainConfig& config,
                                                             OptionSet set, const Models& models);

/// Adds --print-config, which is not an option of a run and so in no file.
void add_print_config(CLI::App& app, bool& wish);

/// Parses `args` (without the program's name). Returns an exit code where nothing is left to do
/// (--help and --version, printed to stdout). Throws ConfigError for all errors of CLI11.
std::optional<int> parse_arguments(CLI::App& app, const std::vector<std::string>& args);

/// A complete TOML file: each option of `set` with its group, meaning and value. Reading it back
/// gives bit for bit the same values.
[[nodiscard]] std::string to_toml(const TrainConfig& config, OptionSet set, const Models& models);

/// The options of `set` that differ from default_config(), in the same order.
[[nodiscard]] std::vector<Setting> differing_options(const TrainConfig& config, OptionSet set,
                                                     const Models& models);

/// Reads a config.toml of to_toml() (kShared), over the defaults and without the environment.
/// Throws ConfigError, FileError.
[[nodiscard]] TrainConfig read_config_file(const std::string& file, const Models& models);

/// Gives `app` our formatter, --version and a footer of examples.
void set_conventions(CLI::App& app, const std::string& examples);

}  // namespace fast
