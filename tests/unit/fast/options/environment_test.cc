#include "fast/options/environment.h"

#include <gmock/gmock.h>

#include <cctype>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fast/errors.h"
#include "fast/options/session_option_fields.h"
#include "stencil/core/option_text.h"

namespace fast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

SessionOptions options_of(const Variables& variables, SessionOptions defaults = {}) {
  const auto environment = [&](const std::string& name) {
    const auto it = variables.find(name);
    return it == variables.end() ? std::nullopt : std::optional(it->second);
  };
  return with_environment(std::move(defaults), environment, "somewhere");
}

std::string error_of(const Variables& variables) {
  try {
    (void)options_of(variables);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(EnvironmentTest, EveryOptionOfASessionIsAVariable) {
  Variables variables;
  SessionOptions examples;
  const auto collect = [&]<typename T>(const stencil::OptionField<T>& field, T&) {
    std::string name = "FAST_" + std::string(field.key);
    for (char& c : name) c = static_cast<char>(std::toupper(c));
    variables[name] = stencil::option_text(field.example);
  };
  visit_fields(examples, collect);
  ASSERT_TRUE(variables.contains("FAST_PHASE_LOCK"));
  variables["FAST_TOPOLOGY"] = "ring:5";
  const SessionOptions read = options_of(variables);
  EXPECT_EQ(read.topology, "ring:5");
  const auto check = []<typename T>(const stencil::OptionField<T>& field, const T& value) {
    if (field.key != "topology") {
      EXPECT_EQ(value, field.example) << field.key;
    }
  };
  visit_fields(read, check);
}

TEST(EnvironmentTest, WhatItDoesNotSayStaysAsItWas) {
  SessionOptions defaults{.topology = "ring:3", .peers = {{1, "a:1"}, {2, "b:2"}}};
  defaults.exchange.codec = "int8";
  const SessionOptions read =
      options_of({{"FAST_RANK", "2"}, {"FAST_LISTEN", ""}, {"FAST_CODEC", "fp16"}}, defaults);
  EXPECT_EQ(read.rank, 2);
  EXPECT_EQ(read.topology, "ring:3");
  EXPECT_EQ(read.listen, defaults.listen) << "an empty variable is none";
  EXPECT_EQ(read.exchange.codec, "fp16");
  EXPECT_EQ(read.peers, defaults.peers);
}

TEST(EnvironmentTest, PeersReplaceThoseThatWereThere) {
  SessionOptions defaults{.topology = "ring:3", .peers = {{1, "a:1"}}};
  EXPECT_EQ(options_of({{"FAST_RANK", "0"}, {"FAST_PEER", "1=c:3,2=d:4"}}, defaults).peers,
            (std::map<int, std::string>{{1, "c:3"}, {2, "d:4"}}));
}

TEST(EnvironmentTest, TheRankIsAlsoThatOfALauncher) {
  EXPECT_EQ(options_of({{"FAST_TOPOLOGY", "ring:4"}, {"RANK", "3"}, {"WORLD_SIZE", "4"}}).rank, 3);
  EXPECT_EQ(options_of(
                {{"FAST_TOPOLOGY", "ring:4"}, {"OMPI_COMM_WORLD_RANK", "2"}, {"SLURM_PROCID", "0"}})
                .rank,
            2);
  EXPECT_EQ(
      options_of({{"FAST_TOPOLOGY", "ring:4"}, {"FAST_RANK", "1"}, {"SLURM_PROCID", "3"}}).rank, 1);
  EXPECT_EQ(options_of({}).rank, 0) << "alone";
}

TEST(EnvironmentTest, SeveralWorkersWithoutARankAreRefused) {
  EXPECT_THAT(
      error_of({{"FAST_TOPOLOGY", "ring:4"}}),
      AllOf(HasSubstr("no rank"), HasSubstr("OMPI_COMM_WORLD_RANK"), HasSubstr("give FAST_RANK")));
  EXPECT_THAT(error_of({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}}),
              HasSubstr("4 processes were started"))
      << "a topology that is set too late";
}

TEST(EnvironmentTest, ARefusalNamesTheVariable) {
  EXPECT_THAT(error_of({{"FAST_RANK", "first"}}),
              HasSubstr("FAST_RANK 'first' is no whole number"));
  EXPECT_THAT(error_of({{"FAST_LINGER", "2"}}), HasSubstr("FAST_LINGER 2 is out of range"));
  EXPECT_THAT(error_of({{"FAST_PEER", "x"}}), HasSubstr("FAST_PEER x: not RANK=ENDPOINT"));
}

TEST(EnvironmentTest, AVariableThatIsNoOptionsIsToldWithTheNearest) {
  std::vector<std::pair<LogLevel, std::string>> said;
  const LogSink log = [&](LogLevel level, std::string_view line) {
    said.emplace_back(level, line);
  };
  const std::vector<std::string> names = {"FAST_TOPOLGY", "FAST_RANK",    "FAST_PHASE_LOCK",
                                          "HOME",         "FAST_LIBRARY", "FAST_CIFAR10_DIR"};
  tell_unknown_variables(names, log);
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0].first, LogLevel::kWarning);
  EXPECT_EQ(said[0].second,
            "the variable FAST_TOPOLGY is no option's and says nothing; did you "
            "mean FAST_TOPOLOGY?");
  EXPECT_EQ(said[1].first, LogLevel::kInfo);
  EXPECT_THAT(said[1].second, HasSubstr("FAST_CIFAR10_DIR is no option's"));
}

TEST(EnvironmentTest, AMisspeltVariableOfThisProcessIsWarnedOf) {
  std::string said;
  SessionOptions defaults;
  defaults.log = [&](LogLevel level, std::string_view line) {
    if (level == LogLevel::kWarning) said.append(line);
  };
  setenv("FAST_BUGDET", "100", 1);
  (void)SessionOptions::from_environment(defaults);
  unsetenv("FAST_BUGDET");
  EXPECT_THAT(said, HasSubstr("FAST_BUGDET is no option's and says nothing; did you mean "
                              "FAST_BUDGET?"));
}

TEST(EnvironmentTest, ItIsThatOfThisProcess) {
  setenv("FAST_TOPOLOGY", "ring:6", 1);
  setenv("FAST_RANK", "4", 1);
  const SessionOptions read = SessionOptions::from_environment();
  unsetenv("FAST_TOPOLOGY");
  unsetenv("FAST_RANK");
  EXPECT_EQ(read.topology, "ring:6");
  EXPECT_EQ(read.rank, 4);
}

}  // namespace
}  // namespace fast
