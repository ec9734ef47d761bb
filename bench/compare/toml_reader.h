#pragma once

#include <fmt/format.h>
#include <toml++/toml.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "fast/errors.h"

namespace fast::compare {

/// Reads tables of a TOML file, and turns every failed check of a value into a ConfigError that
/// names its place. It keeps track of the keys read, so that an unknown key is an error too.
class TomlReader {
 public:
  /// `keys` is the remedy for an unknown key: it says where the known ones are listed.
  TomlReader(std::string file, std::string keys) : file_(std::move(file)), keys_(std::move(keys)) {}

  /// Throws ConfigError with `what` is wrong and the place of `node`, or of `key` in `table` (of
  /// the table itself where it lacks the key).
  [[noreturn]] void fail(const toml::node& node, const std::string& what,
                         const std::string& remedy) const;
  [[noreturn]] void fail(const toml::table& table, std::string_view key, const std::string& what,
                         const std::string& remedy) const;

  /// "FILE:LINE"
  [[nodiscard]] std::string place(const toml::node& node) const;

  /// Reads `key` of `table` into `value` if it exists, and ticks it off. Fails where it is of
  /// another type.
  template <typename T>
  bool read(const toml::table& table, std::string_view key, T& value) {
    const toml::node* node = table.get(key);
    if (node == nullptr) return false;
    known_.insert(node);
    if constexpr (std::is_same_v<T, std::vector<double>> ||
                  std::is_same_v<T, std::vector<std::uint64_t>> ||
                  std::is_same_v<T, std::vector<std::string>>) {
      const toml::array* array = node->as_array();
      if (array == nullptr) fail(*node, fmt::format("'{}' is no list", key), "write [a, b, c]");
      value.clear();
      for (const toml::node& element : *array) {
        value.push_back(scalar<typename T::value_type>(element, key));
      }
    } else if constexpr (std::is_same_v<T, std::optional<double>>) {
      value = scalar<double>(*node, key);
    } else {
      value = scalar<T>(*node, key);
    }
    return true;
  }

  /// Ticks `key` off without reading it, if it exists.
  void tick(const toml::table& table, std::string_view key) {
    if (const toml::node* node = table.get(key)) known_.insert(node);
  }

  /// [key] and every [[key]] of `parent`: null and none where it has none.
  const toml::table* table(const toml::table& parent, std::string_view key);
  std::vector<const toml::table*> tables(const toml::table& parent, std::string_view key);

  /// Fails where a key of `table` has not been read.
  void no_others(const toml::table& table, std::string_view where) const;

  /// Runs a check; adds file and line to its ConfigError.
  template <typename Check>
  void check(const toml::table& table, std::string_view key, Check check) const {
    try {
      check();
    } catch (const ConfigError& error) {
      fail(table, key, error.what(), "correct the value");
    }
  }

  /// Fails unless `ok`.
  void require(bool ok, const toml::table& table, std::string_view key,
               const std::string& remedy) const;

 private:
  template <typename T>
  T scalar(const toml::node& node, std::string_view key) const {
    if constexpr (std::is_same_v<T, bool>) {
      if (const auto* value = node.as_boolean()) return value->get();
      fail(node, fmt::format("'{}' is neither true nor false", key), "write one of them");
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (const auto* text = node.as_string()) return text->get();
      fail(node, fmt::format("'{}' is no text", key), "write it in quotes");
    } else if constexpr (std::is_integral_v<T>) {
      const auto* number = node.as_integer();
      if (number != nullptr && number->get() >= 0) return static_cast<T>(number->get());
      fail(node, fmt::format("'{}' is no whole number from 0", key), "write e.g. 32");
    } else {
      if (const auto value = node.value<double>(); value && std::isfinite(*value)) return *value;
      fail(node, fmt::format("'{}' is no number", key), "write e.g. 0.1");
    }
  }

  std::string file_, keys_;
  std::set<const toml::node*> known_;
};

}  // namespace fast::compare
