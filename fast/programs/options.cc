#include "fast/programs/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "fast/errors.h"
#include "fast/programs/learner_factory.h"
#include "fast/programs/option_table.h"
#include "fast/programs/toml.h"

namespace fast {
namespace {

constexpr char kPairHelp[] = "write RANK, the separator and the value, e.g. ";

std::string first_name(std::string_view names) {
  names = names.substr(0, names.find(','));
  return std::string(names.substr(names.find_first_not_of('-')));
}

std::string environment_name(const std::string& key) {
  std::string out = "FAST_";
  for (const char c : key) out += c == '-' ? '_' : static_cast<char>(std::toupper(c));
  return out;
}

std::pair<int, std::string> split_pair(const std::string& text, char separator,
                                       const std::string& option, const std::string& example) {
  const auto at = text.find(separator);
  int rank = -1;
  const char* const end = text.data() + std::min(at, text.size());
  const auto [stop, error] = std::from_chars(text.data(), end, rank);
  if (at == std::string::npos || error != std::errc() || stop != end || rank < 0) {
    throw ConfigError(fmt::format("--{} {}: not RANK{}VALUE", option, text, separator),
                      kPairHelp + example);
  }
  return {rank, text.substr(at + 1)};
}

void read_pairs(const std::vector<std::string>& texts, const std::string& option,
                std::map<int, std::string>& out) {
  out.clear();
  for (const std::string& text : texts) {
    auto [rank, value] = split_pair(text, '=', option, "--peer 3=tcp://10.0.0.3:5555");
    if (!out.emplace(rank, value).second) {
      throw ConfigError(fmt::format("--{} names rank {} twice", option, rank), "name it once");
    }
  }
}

void read_pairs(const std::vector<std::string>& texts, const std::string& option,
                std::map<int, double>& out) {
  out.clear();
  for (const std::string& text : texts) {
    const auto [rank, value] = split_pair(text, ':', option, "--slow 1:4");
    double factor = 0;
    if (!CLI::detail::lexical_cast(value, factor)) {
      throw ConfigError(fmt::format("--{} {}: '{}' is no number", option, text, value),
                        fmt::format("{}--slow 1:4", kPairHelp));
    }
    if (!out.emplace(rank, factor).second) {
      throw ConfigError(fmt::format("--{} names rank {} twice", option, rank), "name it once");
    }
  }
}

std::string text_or_auto(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "auto";
}

std::vector<std::string> pair_texts(const std::map<int, std::string>& map) {
  std::vector<std::string> out;
  for (const auto& [rank, value] : map) out.push_back(fmt::format("{}={}", rank, value));
  return out;
}
std::vector<std::string> pair_texts(const std::map<int, double>& map) {
  std::vector<std::string> out;
  for (const auto& [rank, value] : map) out.push_back(fmt::format("{}:{}", rank, value));
  return out;
}

/// Adds each option to a CLI11 app.
class Binder {
 public:
  explicit Binder(CLI::App& app) : app_(app) {}

  void group(const char* title) { group_ = title; }

  template <typename T>
  void operator()(const char* names, T& value, const char* unit, const char* help) {
    finish(app_.add_option(names, value, help), names, unit)
        ->default_str(fmt::format("{}", value))
        ->take_last();
  }
  void operator()(const char* names, std::optional<double>& value, const char* unit,
                  const char* help) {
    finish(add_number_or_auto(app_, names, value, help), names, unit);
  }
  void operator()(const char* names, bool& value, const char*, const char* help) {
    finish(app_.add_flag(names, value, help), names, "");
  }
  template <typename T>
  void operator()(const char* names, std::map<int, T>& value, const char* unit, const char* help) {
    const std::string key = first_name(names);
    auto read = [&value, key](const std::vector<std::string>& texts) {
      read_pairs(texts, key, value);
    };
    CLI::Option* option = app_.add_option_function<std::vector<std::string>>(names, read, help);
    finish(option, names, unit)->delimiter(',')->allow_extra_args(false);
  }

 private:
  CLI::Option* finish(CLI::Option* option, const char* names, const char* unit) {
    option->group(group_)->envname(environment_name(first_name(names)));
    if (*unit != '\0') option->type_name(unit);
    return option;
  }

  CLI::App& app_;
  std::string group_;
};

/// Writes each option as TOML.
class Writer {
 public:
  void group(const char* title) {
    out_ += fmt::format("{}# --- {} ---\n", out_.empty() ? "" : "\n", title);
  }

  template <typename T>
  void operator()(const char* names, const T& value, const char* unit, const char* help) {
    out_ += fmt::format("\n# {}{}{}\n{} = {}\n", unit, *unit != '\0' ? ": " : "", help,
                        first_name(names), text(value));
  }
  [[nodiscard]] const std::string& result() const { return out_; }

 private:
  static std::string text(const std::string& value) { return toml_string(value); }
  static std::string text(bool value) { return value ? "true" : "false"; }
  static std::string text(int value) { return std::to_string(value); }
  static std::string text(std::uint64_t value) { return std::to_string(value); }
  static std::string text(double value) { return fmt::format("{}", value); }
  static std::string text(const std::optional<double>& value) {
    return value ? text(*value) : toml_string(text_or_auto(value));
  }
  template <typename T>
  static std::string text(const std::map<int, T>& value) {
    std::string out;
    for (const std::string& pair : pair_texts(value)) {
      out += (out.empty() ? "" : ", ") + toml_string(pair);
    }
    return "[" + out + "]";
  }

  std::string out_;
};

/// Reads our TOML for CLI11 and checks the keys against the options of `app`.
class ConfigFile : public CLI::Config {
 public:
  explicit ConfigFile(const CLI::App& app) : app_(app) {}

  std::string to_config(const CLI::App*, bool, bool, std::string) const override { return ""; }

  std::vector<CLI::ConfigItem> from_config(std::istream& in) const override {
    const std::string name = app_.get_config_ptr()->as<std::string>();
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    std::vector<CLI::ConfigItem> items;
    std::map<const CLI::Option*, std::string> seen;
    for (TomlEntry& entry : parse_toml(text, name)) {
      std::replace(entry.key.begin(), entry.key.end(), '_', '-');
      const CLI::Option* option = app_.get_option_no_throw("--" + entry.key);
      if (option == nullptr || !option->get_configurable()) {
        throw ConfigError(fmt::format("{}, line {}: unknown key '{}'{}", name, entry.line,
                                      entry.key, suggestion(entry.key, keys())),
                          "--print-config shows every key");
      }
      if (const auto [it, fresh] = seen.emplace(option, entry.key); !fresh) {
        throw ConfigError(fmt::format("{}, line {}: '{}' and '{}' are the same option", name,
                                      entry.line, it->second, entry.key),
                          "keep one of the two");
      }
      check_type(name, entry, *option);
      if (entry.values.empty()) continue;
      items.emplace_back();
      items.back().name = entry.key;
      items.back().inputs = entry.values;
    }
    return items;
  }

 private:
  static void check_type(const std::string& name, const TomlEntry& entry,
                         const CLI::Option& option) {
    const bool flag = option.get_expected_min() == 0;
    const bool list = option.get_expected_max() > 1;
    if (!list && entry.values.size() != 1) {
      throw ConfigError(fmt::format("{}, line {}: '{}' takes one value, not {}", name, entry.line,
                                    entry.key, entry.values.size()),
                        "write KEY = VALUE");
    }
    if (flag && entry.values[0] != "true" && entry.values[0] != "false") {
      throw ConfigError(
          fmt::format("{}, line {}: {} = {}", name, entry.line, entry.key, entry.values[0]),
          "it is true or false");
    }
  }

  [[nodiscard]] std::vector<std::string> keys() const {
    std::vector<std::string> out;
    for (const CLI::Option* option : app_.get_options()) {
      if (option->get_configurable() && !option->get_lnames().empty()) {
        out.push_back(option->get_lnames().front());
      }
    }
    return out;
  }

  const CLI::App& app_;
};

/// CLI11's layout without the variable's name on every line: the footer gives the rule.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(36); }
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) return "";
    const std::string value = option->get_default_str();
    return fmt::format(" {}{}{}", option->get_type_name(), value.empty() ? "" : "=", value);
  }
};

std::vector<std::string> flags(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
  }
  return out;
}

}  // namespace

CLI::Option* add_number_or_auto(CLI::App& app, const std::string& names,
                                std::optional<double>& value, const std::string& help) {
  const CLI::callback_t read = [&value](const CLI::results_t& texts) {
    double number = 0;
    const bool automatic = texts.back() == "auto";
    if (!automatic && !CLI::detail::lexical_cast(texts.back(), number)) return false;
    value = automatic ? std::nullopt : std::optional(number);
    return true;
  };
  return app.add_option(names, read, help)->default_str(text_or_auto(value))->take_last();
}

TrainConfig default_config() {
  TrainConfig config;
  config.worker.threads = 0;
  const std::vector<std::string> models = model_names();
  if (std::find(models.begin(), models.end(), config.worker.model) == models.end()) {
    config.worker.model = models.front();
  }
  return config;
}

void bind_options(CLI::App& app, TrainConfig& config, OptionSet set) {
  app.set_config("--config,-c", "", "TOML file with any of these options")->type_name("FILE");
  app.config_formatter(std::make_shared<ConfigFile>(app));
  Binder binder(app);
  visit_options(config, set, binder);
}

void add_print_config(CLI::App& app, bool& wish) {
  app.add_flag("--print-config", wish, "print all options as a TOML file for --config, and exit")
      ->configurable(false);
}

std::optional<int> parse_arguments(CLI::App& app, const std::vector<std::string>& args) {
  try {
    std::vector<std::string> reversed(args.rbegin(), args.rend());
    app.parse(reversed);
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
                                  suggestion(word.substr(0, word.find('=')), flags(app))),
                      fmt::format("{} --help lists all options", app.get_name()));
  } catch (const CLI::ParseError& error) {
    throw ConfigError(error.what(), fmt::format("see {} --help", app.get_name()));
  }
}

std::string to_toml(const TrainConfig& config, OptionSet set) {
  Writer writer;
  TrainConfig copy = config;
  visit_options(copy, set, writer);
  return writer.result();
}

TrainConfig read_config_file(const std::string& file) {
  if (!std::ifstream(file)) {
    throw FileError(fmt::format("cannot read {}", file), "name a run folder with a config.toml");
  }
  TrainConfig config = default_config();
  CLI::App app("", file);
  bind_options(app, config, OptionSet::kShared);
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

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  std::size_t best = std::max<std::size_t>(2, word.size() / 3) + 1;
  std::string nearest;
  for (const std::string& candidate : candidates) {
    std::vector<std::size_t> row(candidate.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = row[0]++;
      for (std::size_t j = 1; j < row.size(); ++j) {
        const std::size_t change = diagonal + (word[i - 1] == candidate[j - 1] ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
      }
    }
    if (row.back() < best) {
      best = row.back();
      nearest = candidate;
    }
  }
  return nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest);
}

}  // namespace fast
