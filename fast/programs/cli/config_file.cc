#include "fast/programs/cli/config_file.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <istream>
#include <iterator>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "fast/errors.h"
#include "fast/programs/cli/toml.h"
#include "stencil/core/text.h"

namespace fast {
namespace {

constexpr std::string_view kRun = "# Run ";
constexpr std::string_view kOptions = " options. ";

/// What follows kRun in the first line; "" where the text does not begin so.
std::string_view first_line(std::string_view text) {
  if (!text.starts_with(kRun)) return {};
  text.remove_prefix(kRun.size());
  return text.substr(0, text.find('\n'));
}

/// Throws ConfigError where the text of a run has fewer options than its first line says, or ends
/// within a line: options that are missing would silently have their defaults. Older versions did
/// not count them.
void check_whole(std::string_view text, std::size_t options, const std::string& name) {
  std::string_view line = first_line(text);
  if (line.empty()) return;
  line = line.substr(0, line.find(kOptions));
  line.remove_prefix(line.rfind(' ') + 1);
  std::size_t all = 1;
  std::from_chars(line.data(), line.data() + line.size(), all);
  if (options >= all && text.ends_with('\n')) return;
  throw ConfigError(
      fmt::format("{} was cut off: of the options that its first line counts it holds {}", name,
                  options),
      "put it back from a copy; where you have removed some yourself, remove that line too");
}

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
    std::vector<TomlEntry> entries = parse_flat_toml(text, name);
    check_whole(text, entries.size(), name);
    for (TomlEntry& entry : entries) {
      std::replace(entry.key.begin(), entry.key.end(), '_', '-');
      const CLI::Option* option = app_.get_option_no_throw("--" + entry.key);
      if (option == nullptr || !option->get_configurable()) {
        throw ConfigError(fmt::format("{}:{}: unknown key '{}'{}", name, entry.line, entry.key,
                                      stencil::suggestion(entry.key, known_keys())),
                          "--print-config shows every key");
      }
      if (const auto [it, fresh] = seen.emplace(option, entry.key); !fresh) {
        throw ConfigError(fmt::format("{}:{}: '{}' and '{}' are the same option", name, entry.line,
                                      it->second, entry.key),
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
      throw ConfigError(fmt::format("{}:{}: '{}' takes one value, not {}", name, entry.line,
                                    entry.key, entry.values.size()),
                        "write KEY = VALUE");
    }
    if (flag && entry.values[0] != "true" && entry.values[0] != "false") {
      throw ConfigError(fmt::format("{}:{}: {} = {}", name, entry.line, entry.key, entry.values[0]),
                        "it is true or false");
    }
  }

  [[nodiscard]] std::vector<std::string_view> known_keys() const {
    std::vector<std::string_view> out;
    for (const CLI::Option* option : app_.get_options()) {
      if (option->get_configurable() && !option->get_lnames().empty()) {
        out.push_back(option->get_lnames().front());
      }
    }
    return out;
  }

  const CLI::App& app_;
};

}  // namespace

void use_config_file(CLI::App& app) {
  app.set_config("--config,-c", "", "TOML file with any of these options")->type_name("FILE");
  app.config_formatter(std::make_shared<ConfigFile>(app));
}

std::string run_config(const std::string& run_id, const std::string& command,
                       const std::string& toml) {
  return fmt::format("{}{}, {}{}One of its workers by hand (K: its rank):\n#   {}\n\n{}", kRun,
                     run_id, parse_flat_toml(toml, "options").size(), kOptions, command, toml);
}

std::string run_of_config(std::string_view text) {
  const std::string_view line = first_line(text);
  return std::string(line.substr(0, line.find_first_of(",.")));  // "." in those of older versions
}

}  // namespace fast
