#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fast {

/// One "key = value" of a configuration file. Scalars have one value; numbers and booleans are
/// kept as they are written.
struct TomlEntry {
  std::string key;
  std::vector<std::string> values;
  int line = 0;
};

/// The part of TOML 1.0 that a flat configuration needs: bare and quoted keys; basic and literal
/// strings, integers, floats, booleans, and arrays of them (over several lines, too); comments. No
/// tables, dates, dotted keys, inline tables or multi-line strings. CLI11's own reader is not used:
/// it cuts strings at '#', knows no escapes and tells no lines. `name` is the file's, for errors.
/// Throws ConfigError that names file and line for anything else, a doubled key included.
[[nodiscard]] std::vector<TomlEntry> parse_toml(std::string_view text, const std::string& name);

/// A basic string with quotes and escapes, as parse_toml() reads it back.
[[nodiscard]] std::string toml_string(std::string_view text);

}  // namespace fast
