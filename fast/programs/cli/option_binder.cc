#include "fast/programs/cli/option_binder.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>
#include <vector>

#include "fast/errors.h"

namespace fast {
namespace {

using stencil::as_flag;
using stencil::OptionField;

std::string environment_name(std::string_view key) {
  std::string out = "FAST_";
  for (const char c : key) out += static_cast<char>(std::toupper(c));
  return out;
}

/// CLI11's list of names: "--model,-m", "--overlap,!--no-overlap".
template <typename T>
std::string names_of(const OptionField<T>& field) {
  std::string names = as_flag(field.key);
  if (!field.also.empty()) names += "," + std::string(field.also);
  return names;
}

template <typename T>
bool read_number(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

char separator_of(const std::string&) {
  return '=';
}
char separator_of(double) {
  return ':';
}

bool read_value(std::string_view text, std::string& value) {
  value = text;
  return true;
}
bool read_value(std::string_view text, double& value) {
  return read_number(text, value);
}

template <typename T>
void read_pair(const std::string& text, const OptionField<std::map<int, T>>& field,
               std::map<int, T>& out) {
  const auto& [example_rank, example] = *field.example.begin();
  const std::string flag = as_flag(field.key);
  const std::string remedy =
      fmt::format("write {}, e.g. {} {}", field.unit, flag, pair_text(example_rank, example));
  const auto at = text.find(separator_of(T()));
  int rank = -1;
  if (at == std::string::npos || !read_number(std::string_view(text).substr(0, at), rank) ||
      rank < 0) {
    throw ConfigError(fmt::format("{} {}: not {}", flag, text, field.unit), remedy);
  }
  T value{};
  if (!read_value(std::string_view(text).substr(at + 1), value)) {
    throw ConfigError(fmt::format("{} {}: '{}' is no number", flag, text, text.substr(at + 1)),
                      remedy);
  }
  if (!out.emplace(rank, std::move(value)).second) {
    throw ConfigError(fmt::format("{} names rank {} twice", flag, rank), "name it once");
  }
}

}  // namespace

std::string pair_text(int rank, const std::string& value) {
  return fmt::format("{}={}", rank, value);
}

std::string pair_text(int rank, double value) {
  return fmt::format("{}:{}", rank, value);
}

bool read_number_or_auto(const std::string& text, std::optional<double>& value) {
  double number = 0;
  const bool automatic = text == "auto";
  if (!automatic && !read_number(text, number)) return false;
  value = automatic ? std::nullopt : std::optional(number);
  return true;
}

template <typename T>
void OptionBinder::finish(CLI::Option* option, const OptionField<T>& field) {
  option->group(group_);
  if (environment_ == Environment::kRead) option->envname(environment_name(field.key));
  if (!field.choices.empty()) choices_[as_flag(field.key)] = field.choices;
  if (!field.unit.empty()) option->type_name(std::string(field.unit));
}

template <typename T>
void OptionBinder::add(const OptionField<T>& field, T& value) {
  CLI::Option* option = app_.add_option(names_of(field), value, field.help);
  finish(option->default_str(stencil::option_text(value))->take_last(), field);
}

template <typename T>
void OptionBinder::add_pairs(const OptionField<std::map<int, T>>& field, std::map<int, T>& value) {
  const auto read = [&value, field](const std::vector<std::string>& texts) {
    value.clear();
    for (const std::string& text : texts) read_pair(text, field, value);
  };
  CLI::Option* option =
      app_.add_option_function<std::vector<std::string>>(names_of(field), read, field.help);
  finish(option->delimiter(',')->allow_extra_args(false), field);
}

void OptionBinder::operator()(const OptionField<std::string>& field, std::string& value) {
  add(field, value);
}
void OptionBinder::operator()(const OptionField<int>& field, int& value) {
  add(field, value);
}
void OptionBinder::operator()(const OptionField<double>& field, double& value) {
  add(field, value);
}
void OptionBinder::operator()(const OptionField<std::uint64_t>& field, std::uint64_t& value) {
  add(field, value);
}

void OptionBinder::operator()(const OptionField<bool>& field, bool& value) {
  std::string names = names_of(field);
  if (value) names += ",!--no-" + as_flag(field.key).substr(2);
  finish(app_.add_flag(names, value, field.help), field);
}

void OptionBinder::operator()(const OptionField<std::optional<double>>& field,
                              std::optional<double>& value) {
  const CLI::callback_t read = [&value](const CLI::results_t& texts) {
    return read_number_or_auto(texts.back(), value);
  };
  CLI::Option* option = app_.add_option(names_of(field), read, field.help);
  finish(option->default_str(stencil::option_text(value))->take_last(), field);
}

void OptionBinder::operator()(const OptionField<std::map<int, std::string>>& field,
                              std::map<int, std::string>& value) {
  add_pairs(field, value);
}
void OptionBinder::operator()(const OptionField<std::map<int, double>>& field,
                              std::map<int, double>& value) {
  add_pairs(field, value);
}

}  // namespace fast
