// Each exchange option, found by walking their one list: command line, file, environment, checks
// and the comparison's cells know it.
#include <gmock/gmock.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include "bench/compare/cell.h"
#include "fast/errors.h"
#include "fast/programs/cli/options.h"
#include "fast/run/metrics_json.h"
#include "fast/run/summary.h"
#include "stencil/core/option_checks.h"
#include "stencil/runtime/exchange_option_fields.h"
#include "tests/support/cifar_files.h"

namespace fast::compare {
namespace {

using stencil::as_flag;
using stencil::ExchangeOptions;
using stencil::OptionField;
using ::testing::AllOf;
using ::testing::HasSubstr;

const Models& models() {
  static const Models kModels({{"linear", {}}, {"resnet8", {}}});
  return kModels;
}

/// The options that fast-worker would run with.
ExchangeOptions parsed(const std::vector<std::string>& args) {
  TrainConfig config = default_config(models());
  CLI::App app("", "fast-worker");
  set_conventions(app, "");
  bind_options(app, config, OptionSet::kWorker, models());
  EXPECT_EQ(parse_arguments(app, args), std::nullopt);
  return config.worker.session.exchange;
}

std::string help() {
  TrainConfig config = default_config(models());
  CLI::App app("", "fast-worker");
  bind_options(app, config, OptionSet::kWorker, models());
  return app.help();
}

std::string variable(std::string_view key) {
  std::string name = "FAST_";
  for (const char c : key) name += static_cast<char>(std::toupper(c));
  return name;
}

/// Calls `check(field, member)` for each option; `member` finds it in any ExchangeOptions.
template <typename Check>
void for_each_option(Check check) {
  ExchangeOptions walked;
  std::size_t index = 0;
  const auto visit = [&](const auto& field, auto& value) {
    using Value = std::remove_reference_t<decltype(value)>;
    const std::size_t wanted = index++;
    const auto member = [wanted](ExchangeOptions& options) -> Value& {
      Value* found = nullptr;
      std::size_t at = 0;
      const auto find = [&](const auto& /*field*/, auto& candidate) {
        if constexpr (std::is_same_v<decltype(candidate), Value&>) {
          if (at == wanted) found = &candidate;
        }
        ++at;
      };
      visit_fields(options, find);
      return *found;
    };
    SCOPED_TRACE(std::string(field.key));
    check(field, member);
  };
  visit_fields(walked, visit);
  EXPECT_GT(index, 10U);
}

/// Its example as written on a command line, in a file or in a variable.
template <typename T>
std::string example_text(const OptionField<T>& field) {
  return stencil::option_text(field.example);
}

TEST(EveryOption, has_a_flag_a_key_of_the_file_and_a_variable) {
  const testing::TemporaryFolder folder;
  for_each_option([&](const auto& field, const auto& member) {
    ExchangeOptions usual;
    ASSERT_NE(field.example, member(usual)) << "an example that shows nothing";
    const std::string text = example_text(field);
    std::string flag = as_flag(field.key) + "=" + text;
    ExchangeOptions got = parsed({flag});
    EXPECT_EQ(member(got), field.example);

    const auto file = folder.path() / "options.toml";
    constexpr bool kQuoted =
        std::is_same_v<std::remove_cvref_t<decltype(field.example)>, std::string>;
    std::ofstream(file) << field.key << " = " << (kQuoted ? "\"" + text + "\"" : text) << "\n";
    got = parsed({"--config", file.string()});
    EXPECT_EQ(member(got), field.example);

    setenv(variable(field.key).c_str(), text.c_str(), 1);
    got = parsed({});
    unsetenv(variable(field.key).c_str());
    EXPECT_EQ(member(got), field.example);
  });
}

TEST(EveryOption, is_explained_printed_and_told_by_what_a_run_leaves) {
  Summary summary;
  const std::string left = to_metrics_line(WorkerStart()), told = to_json(summary);
  const std::string text = help();
  const std::string printed = to_toml(default_config(models()), OptionSet::kShared, models());
  for_each_option([&](const auto& field, const auto& /*member*/) {
    EXPECT_GT(field.help.size(), 10U);
    EXPECT_THAT(text, HasSubstr(as_flag(field.key)));
    EXPECT_THAT(printed, HasSubstr("\n" + as_flag(field.key).substr(2) + " = "));
    EXPECT_THAT(left, HasSubstr("\"" + std::string(field.key) + "\":"));
    EXPECT_THAT(told, HasSubstr("\"" + std::string(field.key) + "\":"));
  });
}

/// A value that the field must refuse; nothing for a switch, which has no other values.
std::optional<std::string> wrong(const OptionField<std::string>&) {
  return "no such thing";
}
std::optional<bool> wrong(const OptionField<bool>&) {
  return std::nullopt;
}
template <typename T>
std::optional<T> wrong(const OptionField<T>& field) {
  return static_cast<T>(field.range.least - 1);
}
std::optional<std::optional<double>> wrong(const OptionField<std::optional<double>>& field) {
  return field.range.least - 1;
}

TEST(EveryOption, refuses_what_is_out_of_its_range_by_name_value_and_remedy) {
  for_each_option([&](const auto& field, const auto& member) {
    ExchangeOptions options;
    member(options) = field.example;
    EXPECT_NO_THROW(options.validate());
    const auto bad = wrong(field);
    if (!bad) return;
    options = {};
    member(options) = *bad;
    try {
      options.validate();
      ADD_FAILURE() << "took " << stencil::option_text(*bad);
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr(std::string(field.key)),
                                      HasSubstr(stencil::option_text(*bad)), HasSubstr("; use")));
    }
  });
}

TEST(EveryOption, belongs_to_what_determines_a_cell) {
  Cell cell;
  cell.strategy = usual_strategy("stencil-async");
  cell.strategy.exchange = stencil::bare_exchange();
  const std::string bare = hash(cell);
  for_each_option([&](const auto& field, const auto& member) {
    Cell other = cell;
    ExchangeOptions usual;
    const auto value = field.example != field.before ? field.example : member(usual);
    member(other.strategy.exchange) = value;
    EXPECT_NE(hash(other), bare);
    Cell back = cell_from_json(to_json(other));
    EXPECT_EQ(member(back.strategy.exchange), value);
    EXPECT_EQ(hash(back), hash(other));
  });
}

}  // namespace
}  // namespace fast::compare
