#include "fast/programs/cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <memory>

#include "fast/errors.h"
#include "fast/programs/cli/config_file.h"
#include "fast/programs/cli/option_binder.h"
#include "fast/programs/cli/option_table.h"
#include "fast/programs/cli/toml.h"
#include "fast/version.h"

namespace fast {
namespace {

/// A visitor of option fields that writes each as TOML.
class TomlWriter {
 public:
  void group(const char* title) {
    out_ += fmt::format("{}# --- {} ---\n", out_.empty() ? "" : "\n", title);
  }

  template <typename T>
  void operator()(const stencil::OptionField<T>& field, const T& value) {
    out_ += fmt::format("\n# {}{}{}\n{} = {}\n", field.unit, field.unit.empty() ? "" : ": ",
                        field.help, stencil::as_flag(field.key).substr(2), text(value));
  }
  [[nodiscard]] const std::string& result() const { return out_; }

 private:
  /// TOML's integers are signed 64-bit; larger ones are written in quotes.
  static std::string text(std::uint64_t value) {
    const std::string digits = std::to_string(value);
    return value > std::numeric_limits<std::int64_t>::max() ? toml_string(digits) : digits;
  }
  static std::string text(const std::string& value) { return toml_string(value); }
  static std::string text(const std::optional<double>& value) {
    return value ? stencil::option_text(*value) : toml_string(stencil::option_text(value));
  }
  template <typename T>
  static std::string text(const std::map<int, T>& value) {
    std::string out;
    for (const auto& [rank, one] : value) {
      out += (out.empty() ? "" : ", ") + toml_string(stencil::pair_text(rank, one));
    }
    return "[" + out + "]";
  }
  template <typename T>
  requires std::is_arithmetic_v<T>
  static std::string text(T value) { return stencil::option_text(value); }

  std::string out_;
};

/// CLI11's layout without the environment variable on every line; the footer gives the rule.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(36); }
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) return "";
    const std::string value = option->get_default_str();
    return fmt::format(" {}{}{}", option->get_type_name(), value.empty() ? "" : "=", value);
  }
  /// A positional argument without a group has no name here: it shows its type instead.
  std::string make_option_usage(const CLI::Option* option) const override {
    if (option->get_group().empty()) return option->get_type_name();
    return CLI::Formatter::make_option_usage(option);
  }
};

std::vector<std::string> flags(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
  }
  return out;
}

/// " (did you mean --topology?)" for a word that is near one of the app's flags.
std::string flag_suggestion(const CLI::App& app, std::string_view word) {
  const std::vector<std::string> known = flags(app);
  return stencil::suggestion(word, std::vector<std::string_view>(known.begin(), known.end()));
}

/// An empty path on the command line is the value of a variable that is not set. Options of the
/// file may be empty there.
void check_paths(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const bool in_file = app.get_config_ptr() != nullptr && option->get_configurable();
    const bool path = option->get_type_name() == "DIR" || option->get_type_name() == "FILE";
    if (in_file || !path || option->count() == 0 || option->get_lnames().empty()) continue;
    if (!option->results().front().empty()) continue;
    throw ConfigError(fmt::format("--{} is empty", option->get_lnames().front()),
                      "name one, or leave it out; is the variable set that you gave?");
  }
}

}  // namespace

TrainConfig default_config(const Models& models) {
  TrainConfig config;
  config.worker.threads = 0;
  config.worker.session.naming = stencil::as_flag;
  if (!models.has(config.worker.model)) config.worker.model = models.names().front();
  return config;
}

std::map<std::string, std::vector<std::string>> bind_options(CLI::App& app, TrainConfig& config,
                                                             OptionSet set, const Models& models) {
  use_config_file(app);
  OptionBinder binder(app);
  visit_options(config, set, models, binder);
  return binder.choices();
}

void add_print_config(CLI::App& app, bool& wish) {
  app.add_flag("--print-config", wish, "print all options as a TOML file for --config, and exit")
      ->configurable(false);
}

std::optional<int> parse_arguments(CLI::App& app, const std::vector<std::string>& args) {
  try {
    std::vector<std::string> reversed(args.rbegin(), args.rend());
    app.parse(reversed);
    check_paths(app);
    return std::nullopt;
  } catch (const CLI::Success& wish) {
    return app.exit(wish, std::cout, std::cerr);
  } catch (const CLI::FileError& error) {
    throw ConfigError(fmt::format("cannot read the configuration file: {}", error.what()),
                      "check the path given to --config");
  } catch (const CLI::ExtrasError& error) {
    const std::vector<std::string> rest = app.remaining();
    const std::string word = rest.empty() ? error.what() : rest.front();
    throw ConfigError(fmt::format("unknown argument {}{}", word,
                                  flag_suggestion(app, word.substr(0, word.find('=')))),
                      fmt::format("{} --help lists all options", app.get_name()));
  } catch (const CLI::ParseError& error) {
    throw ConfigError(error.what(), fmt::format("see {} --help", app.get_name()));
  }
}

std::string to_toml(const TrainConfig& config, OptionSet set, const Models& models) {
  TomlWriter writer;
  TrainConfig copy = config;
  visit_options(copy, set, models, writer);
  return writer.result();
}

std::vector<Setting> differing_options(const TrainConfig& config, OptionSet set,
                                       const Models& models) {
  const auto entries = [&](const TrainConfig& one) {
    return parse_flat_toml(to_toml(one, set, models), "options");
  };
  std::vector<Setting> out;
  const std::vector<TomlEntry> given = entries(config), usual = entries(default_config(models));
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i].values == usual[i].values) continue;
    out.push_back({given[i].key, fmt::format("{}", fmt::join(given[i].values, ", ")),
                   fmt::format("{}", fmt::join(usual[i].values, ", "))});
  }
  return out;
}

TrainConfig read_config_file(const std::string& file, const Models& models) {
  if (!std::ifstream(file)) {
    throw FileError(fmt::format("cannot read {}", file), "name a run folder with a config.toml");
  }
  TrainConfig config = default_config(models);
  CLI::App app("", file);
  bind_options(app, config, OptionSet::kShared, models);
  for (CLI::Option* option : app.get_options()) option->envname("");
  parse_arguments(app, {"--config", file});
  return config;
}

void set_conventions(CLI::App& app, const std::string& examples) {
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("--version", "fast " FAST_VERSION);
  app.set_help_flag("--help,-h", "show this and exit");
  app.footer(examples);
}

}  // namespace fast
