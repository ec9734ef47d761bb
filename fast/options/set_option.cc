#include "fast/options/set_option.h"

#include <algorithm>
#include <map>
#include <type_traits>
#include <vector>

#include "fast/errors.h"
#include "fast/options/session_option_fields.h"
#include "stencil/core/option_checks.h"
#include "stencil/core/text.h"

namespace fast {
namespace {

using stencil::OptionField;

template <typename T>
std::string_view kind_of(const T&) {
  if constexpr (std::is_same_v<T, bool>) return "neither true nor false";
  if constexpr (std::is_integral_v<T>) return "no whole number in range";
  return "no number";
}

/// A visitor of option fields that sets one of them.
class Setter {
 public:
  Setter(std::string_view key, std::string_view text, stencil::OptionNaming naming)
      : key_(key), text_(text), naming_(naming) {
    std::ranges::replace(key_, '-', '_');
  }

  template <typename T>
  void operator()(const OptionField<T>& field, T& value) {
    known_.push_back(field.key);
    if (field.key != key_) return;
    T read = value;
    parse(field, read);
    const stencil::OptionChecks check{naming_};
    check(field, read);
    value = std::move(read);
    found_ = true;
  }

  void demand_found() const {
    if (found_) return;
    throw ConfigError(
        "unknown option " + stencil::in_quotes(key_) + stencil::suggestion(key_, known_),
        "use one of " + stencil::listed(known_));
  }

 private:
  template <typename T>
  void parse(const OptionField<T>& field, T& value) const {
    if (stencil::read_option(text_, value)) return;
    const std::string name = naming_(key_);
    const std::string example = name + " " + stencil::option_text(field.example);
    throw ConfigError(name + " " + stencil::in_quotes(text_) + " is " + std::string(kind_of(value)),
                      field.remedy.empty() ? "write e.g. " + example : std::string(field.remedy));
  }
  template <typename T>
  void parse(const OptionField<std::map<int, T>>& field, std::map<int, T>& value) const {
    std::string_view rest = text_;
    while (!rest.empty()) {
      const auto end = std::min(rest.find(','), rest.size());
      stencil::read_pair(rest.substr(0, end), field, naming_, value);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }

  std::string key_;
  std::string_view text_;
  stencil::OptionNaming naming_;
  std::vector<std::string_view> known_;
  bool found_ = false;
};

}  // namespace

void set_option(SessionOptions& options, std::string_view key, std::string_view text,
                stencil::OptionNaming naming) {
  Setter setter(key, text, naming);
  visit_fields(options, setter);
  setter.demand_found();
}

}  // namespace fast
