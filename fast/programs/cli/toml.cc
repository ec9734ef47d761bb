#include "fast/programs/cli/toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "fast/errors.h"

namespace fast {
namespace {

std::string place(const toml::node& node, const std::string& name) {
  return fmt::format("{}:{}", name, node.source().begin.line);
}

std::string scalar_text(const toml::node& node, std::string_view key, const std::string& name) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return fmt::format("{}", number->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* value = node.as_boolean()) return value->get() ? "true" : "false";
  throw ConfigError(
      fmt::format("{}: '{}' is neither a number nor text, true or false", place(node, name), key),
      "write KEY = VALUE, text in quotes");
}

TomlEntry entry_of(std::string_view key, const toml::node& node, const std::string& name) {
  TomlEntry entry{.key = std::string(key), .values = {}, .line = 0};
  entry.line = static_cast<int>(node.source().begin.line);
  if (node.is_table()) {
    throw ConfigError(fmt::format("{}: a section, '{}'", place(node, name), key),
                      "all keys of this file stand at the top level: remove the section");
  }
  const toml::array* array = node.as_array();
  if (array == nullptr) {
    entry.values.push_back(scalar_text(node, key, name));
    return entry;
  }
  for (const toml::node& element : *array) {
    entry.values.push_back(scalar_text(element, key, name));
  }
  return entry;
}

}  // namespace

toml::table parse_toml(std::string_view text, const std::string& name) {
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    throw ConfigError(
        fmt::format("{}:{}: {}", name, error.source().begin.line, error.description()),
        "write KEY = VALUE, one a line, with text in quotes");
  }
}

std::vector<TomlEntry> parse_flat_toml(std::string_view text, const std::string& name) {
  const toml::table table = parse_toml(text, name);
  std::vector<TomlEntry> entries;
  for (const auto& [key, node] : table) entries.push_back(entry_of(key.str(), node, name));
  std::ranges::stable_sort(entries, {}, &TomlEntry::line);
  return entries;
}

std::string toml_string(const std::string& text) {
  const toml::value<std::string> value(text);
  std::ostringstream out;
  out << toml::toml_formatter(value, toml::format_flags::none);
  const toml::table back = parse_toml("text = " + out.str(), "text");
  if (back["text"].value_or(std::string()) != text) {
    throw ConfigError("'" + text + "' is no UTF-8, which a configuration file cannot hold",
                      "use names in UTF-8");
  }
  return out.str();
}

}  // namespace fast
