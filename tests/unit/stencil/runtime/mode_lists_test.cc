// What lists the modes: help and choices of the option, and what a refusal offers, beside
// kModeForms.
#include <gmock/gmock.h>

#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "stencil/core/error.h"
#include "stencil/core/mode.h"
#include "stencil/runtime/exchange_option_fields.h"

namespace stencil {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

/// "async", "bounded:K", ..
std::vector<std::string> mode_forms() {
  std::vector<std::string> out(1);
  for (const char c : std::string(kModeForms) + " ") {
    if (c != ' ' && c != ',') {
      out.back() += c;
    } else if (!out.back().empty()) {
      if (out.back() == "or") out.pop_back();
      out.emplace_back();
    }
  }
  out.pop_back();
  return out;
}

TEST(ModeForms, are_what_the_option_offers_in_help_and_completion) {
  const ExchangeOptions options;
  const auto look = [](const auto& field, const auto&) {
    if (field.key != "mode") return;
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>, OptionField<std::string>>) {
      EXPECT_THAT(field.choices, SizeIs(mode_forms().size()));
      for (const std::string& form : mode_forms()) {
        EXPECT_THAT(std::string(field.help), HasSubstr(form));
        const std::string choice = form.substr(0, form.find(':') + 1);
        EXPECT_THAT(field.choices, testing::Contains(choice.empty() ? form : choice));
      }
    }
  };
  visit_fields(options, look);
}

TEST(ModeForms, are_all_taken_and_offered_where_a_mode_is_refused) {
  std::set<Mode::Kind> kinds;
  for (std::string form : mode_forms()) {
    if (const auto k = form.find('K'); k != std::string::npos) form.replace(k, 1, "3");
    kinds.insert(Mode::parse(form).kind);
    EXPECT_EQ(Mode::parse(form).name(), form);
  }
  EXPECT_THAT(kinds, SizeIs(mode_forms().size()));
  EXPECT_THAT([] { (void)Mode::parse("none"); },
              ThrowsMessage<ConfigError>(HasSubstr(std::string(kModeForms))));
}

}  // namespace
}  // namespace stencil
