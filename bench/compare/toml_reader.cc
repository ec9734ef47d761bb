#include "bench/compare/toml_reader.h"

namespace fast::compare {

void TomlReader::fail(const toml::node& node, const std::string& what,
                      const std::string& remedy) const {
  throw ConfigError(fmt::format("{}: {}", place(node), what), remedy);
}

void TomlReader::fail(const toml::table& table, std::string_view key, const std::string& what,
                      const std::string& remedy) const {
  const toml::node* node = table.get(key);
  fail(node != nullptr ? *node : table, fmt::format("'{}': {}", key, what), remedy);
}

std::string TomlReader::place(const toml::node& node) const {
  const auto& path = node.source().path;  // another file's where that was included
  return fmt::format("{}:{}", path ? *path : file_, node.source().begin.line);
}

const toml::table* TomlReader::table(const toml::table& parent, std::string_view key) {
  const toml::node* node = parent.get(key);
  if (node == nullptr) return nullptr;
  known_.insert(node);
  const toml::table* out = node->as_table();
  if (out == nullptr)
    fail(*node, fmt::format("'{}' is no table", key), "write [" + std::string(key) + "]");
  return out;
}

std::vector<const toml::table*> TomlReader::tables(const toml::table& parent,
                                                   std::string_view key) {
  std::vector<const toml::table*> out;
  const toml::node* node = parent.get(key);
  if (node == nullptr) return out;
  known_.insert(node);
  const toml::array* array = node->as_array();
  if (array == nullptr) {
    fail(*node, fmt::format("'{}' is no list of tables", key),
         "write [[" + std::string(key) + "]]");
  }
  for (const toml::node& element : *array) {
    if (!element.is_table()) fail(element, fmt::format("'{}' holds no table", key), "write [[..]]");
    out.push_back(element.as_table());
  }
  return out;
}

void TomlReader::no_others(const toml::table& table, std::string_view where) const {
  for (const auto& [key, node] : table) {
    if (known_.contains(&node)) continue;
    fail(node, fmt::format("unknown key '{}' in {}", key.str(), where), keys_);
  }
}

void TomlReader::require(bool ok, const toml::table& table, std::string_view key,
                         const std::string& remedy) const {
  if (ok) return;
  const toml::node* node = table.get(key);
  fail(node != nullptr ? *node : table, fmt::format("'{}' is missing or out of range", key),
       remedy);
}

}  // namespace fast::compare
