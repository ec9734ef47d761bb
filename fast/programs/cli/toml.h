#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <toml++/toml.h>

namespace fast {

/// Parses TOML 1.0. `name` is the file's, for errors. Throws ConfigError that names file and line.
[[nodiscard]] toml::table parse_toml(std::string_view text, const std::string& name);

/// One "key = value" of a configuration file. A scalar has one value, an array several.
struct TomlEntry {
  std::string key;
  std::vector<std::string> values;  ///< numbers and booleans as TOML writes them
  int line = 0;
};

/// Parses the body of a flat configuration file, in the order of its lines. Throws ConfigError,
/// naming file and line, for invalid TOML and for sections, dates and nested values.
[[nodiscard]] std::vector<TomlEntry> parse_flat_toml(std::string_view text,
                                                     const std::string& name);

/// A TOML string with quotes and escapes, on one line. Throws ConfigError for invalid UTF-8, which
/// TOML cannot hold.
[[nodiscard]] std::string toml_string(const std::string& text);

}  // namespace fast
