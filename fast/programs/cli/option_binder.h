#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stencil/core/option_checks.h"
#include "stencil/core/option_field.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace fast {

/// A visitor of option fields that adds each to a command line: its flag, its environment variable
/// (FAST_LEARNING_RATE for learning_rate) unless that is ignored, its default and its help. The
/// values must outlive the parsing. Ranges are checked later, when file and flags have been read.
class OptionBinder {
 public:
  enum class Environment { kRead, kIgnored };

  explicit OptionBinder(CLI::App& app, Environment environment = Environment::kRead)
      : app_(app), environment_(environment) {}

  void group(const char* title) { group_ = title; }
  /// The beginnings of an option's values, by flag ("--codec").
  [[nodiscard]] const std::map<std::string, std::vector<std::string>>& choices() const {
    return choices_;
  }

  void operator()(const stencil::OptionField<std::string>& field, std::string& value);
  void operator()(const stencil::OptionField<bool>& field, bool& value);
  void operator()(const stencil::OptionField<int>& field, int& value);
  void operator()(const stencil::OptionField<double>& field, double& value);
  void operator()(const stencil::OptionField<std::uint64_t>& field, std::uint64_t& value);
  void operator()(const stencil::OptionField<std::optional<double>>& field,
                  std::optional<double>& value);
  void operator()(const stencil::OptionField<std::map<int, std::string>>& field,
                  std::map<int, std::string>& value);
  void operator()(const stencil::OptionField<std::map<int, double>>& field,
                  std::map<int, double>& value);

 private:
  template <typename T>
  void add(const stencil::OptionField<T>& field, T& value);
  template <typename T>
  void add_pairs(const stencil::OptionField<std::map<int, T>>& field, std::map<int, T>& value);
  template <typename T>
  void finish(CLI::Option* option, const stencil::OptionField<T>& field);

  CLI::App& app_;
  Environment environment_;
  std::string group_;
  std::map<std::string, std::vector<std::string>> choices_;
};

}  // namespace fast
