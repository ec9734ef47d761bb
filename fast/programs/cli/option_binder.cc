#include "fast/programs/cli/option_binder.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "fast/errors.h"
#include "fast/options/environment.h"

namespace fast {
namespace {

using stencil::as_flag;
using stencil::OptionField;

/// How the unit of a text ends that is a list, to which each further mention of its flag adds.
constexpr std::string_view kList = ",..";

/// The names of an option as CLI11 takes them: "--model,-m", "--overlap,!--no-overlap".
template <typename T>
std::string names_of(const OptionField<T>& field) {
  std::string names = as_flag(field.key);
  if (!field.also.empty()) names += "," + std::string(field.also);
  return names;
}

}  // namespace

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
  option->default_str(stencil::option_text(value));
  const bool list = field.unit.ends_with(kList);
  finish(list ? option->join(kList[0]) : option->take_last(), field);
}

template <typename T>
void OptionBinder::add_pairs(const OptionField<std::map<int, T>>& field, std::map<int, T>& value) {
  const auto read = [&value, field](const std::vector<std::string>& texts) {
    value.clear();
    for (const std::string& text : texts) stencil::read_pair(text, field, as_flag, value);
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
    return stencil::read_option(texts.back(), value);
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
